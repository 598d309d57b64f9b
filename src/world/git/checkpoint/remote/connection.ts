import crypto from 'node:crypto'
import { type Duration, formatDuration } from '../../../../lib/time.ts'
import { Trouble } from '../../../../lib/errors.ts'
import type { GitResult, GitOptions, Git } from '../../git.ts'
import { GitError } from '../../git-error.ts'
import { NO_PROMPTS, withoutGitVariables } from '../../git-settings.ts'
import { parseAccess, preventRewrite, rewriteUrl, maskSecrets } from './credentials.ts'
import { findGitFolder, repositoryFolders } from '../../guard/find-and-check-git-folder.ts'
import { isInside } from '../../guard/is-address-inside-folder.ts'

/** A remote and its connection settings. */
export interface RemoteConnection {
  /** The name for people. */
  readonly remote: string
  readonly url: string
  readonly env: Readonly<Record<string, string>>
}

/** A user may configure access to a remote through these variables; we pass no other git variable on. */
const CONNECTION_VARIABLES = /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|HTTP_.*|PROXY_.*)$/

/** git's messages for failures that a retry cannot fix. */
const PERMANENT_FAILURE = new RegExp(
  [
    'strange pathname',
    'does not appear to be a git repository',
    'not found',
    'permission denied',
    'access rights',
    'authentication failed',
    'could not read (username|password)',
  ].join('|'),
  'i',
)

/** Bytes of a remote's list of refs; we refuse a remote with a longer list. */
const MAX_REF_LIST_SIZE = 16_000_000
/** Bytes of all other output that a remote makes git print. */
const MAX_OUTPUT_SIZE = 4_000_000

/** Stands for the remote's name, which is random and exists for one command. */
export const REMOTE_PLACEHOLDER = '<remote>'

/** Runs a command against a remote. Throws `Trouble` if it fails. */
export async function runOnRemote(
  git: Git,
  connection: RemoteConnection,
  doing: string,
  args: readonly string[],
  how: Pick<GitOptions, 'largestFile'> = {},
): Promise<void> {
  const isPush = args[0] === 'push'
  const result = await connect(git, connection, { doing, isPush }, (remoteGit, alias, options) =>
    remoteGit.tryRun(
      args.map(word => (word === REMOTE_PLACEHOLDER ? alias : word)),
      { ...options, ...how, maxOutput: MAX_OUTPUT_SIZE },
    ),
  )
  if (result.code !== 0) throw gitFailure(doing, args[0] ?? '', result)
}

/** Returns the remote's refs that match, with their targets. A star matches anything. */
export async function listRemoteRefs(
  git: Git,
  connection: RemoteConnection,
  {
    patterns,
    doing = `reading ${displayName(connection.remote)}`,
    timeout,
  }: { patterns: readonly string[]; doing?: string; timeout?: Duration },
): Promise<Map<string, string>> {
  // A pipe hides git's exit code, so the script prints a failure as the last line.
  const script = 'most=$1; shift; { git ls-remote --quiet -- "$@" || echo failed; } | head -c "$most"'
  const began = Date.now()
  const result = await connect(git, connection, { doing, isPush: false }, (remoteGit, alias, options) =>
    remoteGit.runScript(script, [`${MAX_REF_LIST_SIZE}`, alias, ...patterns], {
      ...options,
      ...(timeout !== undefined && { timeout }),
      maxOutput: MAX_REF_LIST_SIZE + MAX_OUTPUT_SIZE,
    }),
  ).catch((cause: unknown) => {
    const isLate = timeout !== undefined && Date.now() - began >= timeout
    throw isLate ? new Trouble(doing, `it did not answer within ${formatDuration(timeout)}`) : cause
  })
  if (result.stdout.length >= MAX_REF_LIST_SIZE) failPermanently(doing, 'it has more refs than can be read')
  const lines = result.stdout.toString().split('\n').slice(0, -1)
  if (lines.at(-1) === 'failed' || result.code !== 0) throw gitFailure(doing, 'ls-remote', result)
  // git also matches refs that only end with the pattern.
  const refs = lines.map(line => line.split('\t')).filter(([, ref]) => ref?.startsWith('refs/oneshot'))
  return new Map(refs.map(([commit = '', ref = '']) => [ref, commit]))
}

/**
 * Connects to a remote by its address only. The remote gets a random name, so no remote settings of the repository
 * apply to it. A password in the address appears in no argument list, neither of git nor of the programs that git
 * starts.
 */
async function connect(
  git: Git,
  { url, env }: RemoteConnection,
  { doing, isPush }: { doing: string; isPush: boolean },
  run: (remoteGit: Git, alias: string, options: GitOptions) => Promise<GitResult>,
): Promise<GitResult> {
  const { urlRewrite, transferProgram } = await git.configOverrides()
  if (urlRewrite !== null)
    failPermanently(doing, `${urlRewrite} in the repository’s own configuration leads elsewhere: remove it`)
  if (transferProgram !== null)
    failPermanently(doing, `${transferProgram} in the repository’s own configuration runs a program: remove it`)
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => CONNECTION_VARIABLES.test(name)))
  const reaching = git.withCwd(git.cwd, { ...withoutGitVariables(env), ...own, ...NO_PROMPTS, LC_ALL: 'C' })
  const configured = await readRemoteSettings(reaching)
  const target = rewriteUrl(url, configured, isPush)
  if (/^(ext|fd)::/i.test(target)) failPermanently(doing, 'its address would have git run a command')
  const access = parseAccess(target)
  if (access === null)
    failPermanently(
      doing,
      'git would show the password in its address to everybody on this machine: use a credential helper',
    )
  if (isInRepository(git, access.url))
    failPermanently(doing, 'it lies in the working tree, and git would run the hooks that are in it: put it elsewhere')
  const alias = `oneshot-${crypto.randomBytes(8).toString('hex')}`
  const remoteGit = reaching.withCwd(git.cwd, { ...sshBatchMode(configured, env), ...access.env })
  const settings = [[`remote.${alias}.url`, access.url] as const, ...preventRewrite(access.url), ...access.settings]
  const result = await run(remoteGit, alias, { settings, usesNetwork: true })
  return { ...result, stderr: maskSecrets(result.stderr.replaceAll(alias, displayName(url)), access) }
}

function isInRepository({ cwd, environment }: Git, url: string): boolean {
  const folder = findGitFolder(cwd)
  const folders = folder === null ? [cwd] : repositoryFolders(folder)
  return isInside(url, { cwd, home: environment.env['HOME'] ?? '', folders })
}

function failPermanently(doing: string, why: string): never {
  throw new Trouble(doing, why, { mayHelpToRetry: false })
}

function gitFailure(doing: string, command: string, result: GitResult): Trouble {
  return new Trouble(doing, new GitError(command, result), { mayHelpToRetry: !PERMANENT_FAILURE.test(result.stderr) })
}

/** Returns the settings for address rewriting and for ssh. */
async function readRemoteSettings(git: Git): Promise<[key: string, value: string][]> {
  const pattern = '^(core\\.sshcommand|url\\..*\\.(push)?insteadof)$'
  const { stdout } = await git.tryRun(['config', '--null', '--get-regexp', pattern])
  const entries = stdout.toString().split('\0').slice(0, -1)
  return entries.map(entry => {
    const end = entry.indexOf('\n')
    return end < 0 ? [entry, ''] : [entry.slice(0, end), entry.slice(end + 1)]
  })
}

/** ssh prompts at the terminal unless BatchMode is on; a command that the user configured stays unchanged. */
function sshBatchMode(
  configured: readonly (readonly [key: string, value: string])[],
  env: RemoteConnection['env'],
): Record<string, string> {
  if (env['GIT_SSH_COMMAND'] !== undefined || env['GIT_SSH'] !== undefined) return {}
  return configured.some(([key]) => key === 'core.sshcommand') ? {} : { GIT_SSH_COMMAND: 'ssh -o BatchMode=yes' }
}

/** Hides an address, because it may contain a password. */
export function displayName(remote: string): string {
  return remote.includes('://') || remote.includes('@') ? 'the remote' : remote
}
