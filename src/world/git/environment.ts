import { NotSaved } from '../../ports/checkpoints.ts'
import { run } from '../../os/run.ts'
import { which } from '../../os/which.ts'
import { NO_TRANSFER_AGENT } from './guard/dangerous-settings.ts'

/** Which git there is, and how it is run: as if nobody had configured it to do more than to keep things. */
export interface GitEnvironment {
  readonly program: string
  /** Stand before every command. */
  readonly options: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** `core.fsync` came with 2.36. Before that nothing but objects could be made durable. */
const FSYNC_VERSION = [2, 36] as const

/**
 * git-lfs takes contents from `.git/lfs` alone. It would ask a server that the repository names, in `.lfsconfig` as well, for those
 * that are not there. In the place of a server it gets a program that fails at once, and writes the pointer.
 */
const LFS_WITHOUT_NETWORK: Readonly<Record<string, string>> = {
  'lfs.standalonetransferagent': NO_TRANSFER_AGENT,
  [`lfs.customtransfer.${NO_TRANSFER_AGENT}.path`]: 'false',
  // git-lfs 3.3 gives them to a shell.
  [`lfs.customtransfer.${NO_TRANSFER_AGENT}.args`]: '',
  'lfs.skipdownloaderrors': 'true',
}

const SETTINGS: Readonly<Record<string, string>> = {
  // The user's programs and services are for what the user does.
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
  // All objects come in one file, whose size can be limited.
  'fetch.unpackLimit': '1',
  'log.showSignature': 'false',
  'log.mailmap': 'false',
  'commit.gpgSign': 'false',
  'push.gpgSign': 'false',
  'rerere.enabled': 'false',
  ...LFS_WITHOUT_NETWORK,
  // One private index in one file, in which every entry is looked at.
  'core.splitIndex': 'false',
  // It trusts the times of folders, which have no finer grain than a few milliseconds, and could miss a file.
  'core.untrackedCache': 'false',
  'core.ignoreStat': 'false',
  // Each object is a file that we can flush: larger ones git would put into packs.
  'core.bigFileThreshold': '512m',
  'index.sparse': 'false',
  // A warning about line ends can be an error.
  'core.safecrlf': 'false',
  'i18n.commitEncoding': 'UTF-8',
  'i18n.logOutputEncoding': 'UTF-8',
}

/** Nobody is there to be asked: the empty word keeps git from looking further. */
export const NO_PROMPTS = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
  GCM_INTERACTIVE: 'never',
} as const

const ENV: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  LANGUAGE: '',
  // What somebody replaced for looking at is not what is kept.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null',
  GIT_LITERAL_PATHSPECS: '1',
  // Whoever only looks at the user's index must not write it.
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
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

/** Whatever was set for another git process: another repository, another index, another identity. */
export function withoutGitVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).filter(([name, value]) => value !== undefined && !name.startsWith('GIT_'))
  return Object.fromEntries(entries) as Record<string, string>
}
