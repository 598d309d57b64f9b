import { NotSaved } from '../../ports/checkpoints.ts'
import { run } from '../../os/run.ts'
import { which } from '../../os/which.ts'
import { NO_TRANSFER_AGENT } from './guard/dangerous-settings.ts'

/**
 * The git program and its settings, which disable everything that a user may have configured beyond storing files, such
 * as hooks, monitors and signatures.
 */
export interface GitEnvironment {
  readonly program: string
  /** Options before every command. */
  readonly options: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** `core.fsync` exists since git 2.36. Older versions can sync only objects. */
const FSYNC_VERSION = [2, 36] as const

/**
 * git-lfs may read contents only from `.git/lfs`. For missing contents it would ask a server that the repository names,
 * also in `.lfsconfig`. Instead of a server it gets a program that fails at once, and writes the pointer.
 */
const LFS_WITHOUT_NETWORK: Readonly<Record<string, string>> = {
  'lfs.standalonetransferagent': NO_TRANSFER_AGENT,
  [`lfs.customtransfer.${NO_TRANSFER_AGENT}.path`]: 'false',
  // git-lfs 3.3 passes them to a shell.
  [`lfs.customtransfer.${NO_TRANSFER_AGENT}.args`]: '',
  'lfs.skipdownloaderrors': 'true',
}

const SETTINGS: Readonly<Record<string, string>> = {
  // The user's programs and services are for the user's own commands.
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.editor': 'true',
  'submodule.recurse': 'false',
  'fetch.recurseSubmodules': 'false',
  'push.recurseSubmodules': 'no',
  'diff.ignoreSubmodules': 'dirty',
  'diff.submodule': 'short',
  'status.submoduleSummary': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'fetch.writeCommitGraph': 'false',
  // All objects arrive in one file, whose size we can limit.
  'fetch.unpackLimit': '1',
  'log.showSignature': 'false',
  'log.mailmap': 'false',
  'commit.gpgSign': 'false',
  'push.gpgSign': 'false',
  'rerere.enabled': 'false',
  ...LFS_WITHOUT_NETWORK,
  // The private index is one file, and git checks every entry in it.
  'core.splitIndex': 'false',
  // The cache trusts the times of folders, which are only precise to a few milliseconds, and could miss a file.
  'core.untrackedCache': 'false',
  'core.ignoreStat': 'false',
  // Each object is a file that we can sync: git would put larger ones into packs.
  'core.bigFileThreshold': '512m',
  'index.sparse': 'false',
  // A warning about line ends can become an error.
  'core.safecrlf': 'false',
  'i18n.commitEncoding': 'UTF-8',
  'i18n.logOutputEncoding': 'UTF-8',
}

/** No user can answer a prompt: an empty program keeps git from searching further. */
export const NO_PROMPTS = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
  GCM_INTERACTIVE: 'never',
} as const

const ENV: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  LANGUAGE: '',
  // Replaced objects are for viewing; a checkpoint stores the originals.
  GIT_NO_REPLACE_OBJECTS: '1',
  // git prints eight lines of advice in every process if the file exists, even if it is /dev/null.
  GIT_GRAFT_FILE: '/nonexistent/grafts',
  GIT_LITERAL_PATHSPECS: '1',
  // A command that only reads the user's index must not write it.
  GIT_OPTIONAL_LOCKS: '0',
  ...NO_PROMPTS,
}

export async function findGit(env: NodeJS.ProcessEnv): Promise<GitEnvironment> {
  const program = which('git', env, '/')
  if (program === undefined) throw new NotSaved('git is not installed, or not on PATH')
  const { stdout } = await run(program, ['version'], { env, timeout: 10_000 })
  const [, major = 0, minor = 0] = (/(\d{1,9})\.(\d{1,9})/.exec(stdout) ?? []).map(Number)
  const knowsFsync = major > FSYNC_VERSION[0] || (major === FSYNC_VERSION[0] && minor >= FSYNC_VERSION[1])
  const durable = knowsFsync ? 'core.fsync=committed,reference' : 'core.fsyncObjectFiles=true'
  const settings = [...Object.entries(SETTINGS).map(pair => pair.join('=')), durable]
  const options = ['--no-pager', ...settings.flatMap(setting => ['-c', setting])]
  return { program, options, env: { ...withoutGitVariables(env), ...ENV } }
}

/** Removes variables of another git process: its repository, index or identity. */
export function withoutGitVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter(([name, value]) => value !== undefined && !name.startsWith('GIT_'))
  return Object.fromEntries(entries) as Record<string, string>
}
