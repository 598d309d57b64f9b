import crypto from 'node:crypto'
import { Trouble } from '../../lib/trouble.ts'
import type { Answer, Call, Git } from './git.ts'
import { GitFailed } from './git-failed.ts'
import { ASKING_NOBODY, withoutGit } from './means.ts'
import { accessTo, asItIs, rewritten, withoutSecrets } from './remote-access.ts'
import { isInside } from './remote-url.ts'

/** A remote, and how it is reached. */
export interface Channel {
  /** For people. */
  readonly remote: string
  readonly url: string
  readonly env: Readonly<Record<string, string>>
}

/** How somebody reaches a remote may be told to git by its environment; nothing else of that concerns us. */
const REACHING = /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|HTTP_.*|PROXY_.*)$/

/** git's words for what will be the same the next time. */
const HOPELESS = new RegExp(
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

/** Bytes of the list of a remote's refs; a remote with more is refused. */
const LONGEST_LIST = 16_000_000
/** Bytes of everything else that a remote has git print. */
const LONGEST_TALK = 4_000_000

/** Stands for the name that a remote has for one command, which nobody can foresee. */
export const ALIAS = '<remote>'

/** Runs a command for a remote. Throws `Trouble` unless it ends well. */
export async function speak(
  git: Git,
  channel: Channel,
  doing: string,
  words: readonly string[],
  how: Pick<Call, 'largestFile'> = {},
): Promise<void> {
  const isPush = words[0] === 'push'
  const answer = await reach(git, channel, { doing, isPush }, (speaking, alias, call) =>
    speaking.ask(
      words.map(word => (word === ALIAS ? alias : word)),
      { ...call, ...how, most: LONGEST_TALK },
    ),
  )
  if (answer.code !== 0) throw failed(doing, words[0] ?? '', answer)
}

/** The refs on a remote whose names fit, and what they lead to. A star stands for anything. */
export async function refsOn(
  git: Git,
  channel: Channel,
  { patterns, doing = `reading ${named(channel.remote)}` }: { patterns: readonly string[]; doing?: string },
): Promise<Map<string, string>> {
  // A pipe hides how git ended: its failure is the last line.
  const script = 'most=$1; shift; { git ls-remote --quiet -- "$@" || echo failed; } | head -c "$most"'
  const answer = await reach(git, channel, { doing, isPush: false }, (speaking, alias, call) =>
    speaking.script(script, [`${LONGEST_LIST}`, alias, ...patterns], { ...call, most: LONGEST_LIST + LONGEST_TALK }),
  )
  if (answer.stdout.length >= LONGEST_LIST) refuse(doing, 'it has more refs than can be read')
  const lines = answer.stdout.toString().split('\n').slice(0, -1)
  if (lines.at(-1) === 'failed' || answer.code !== 0) throw failed(doing, 'ls-remote', answer)
  // git takes the end of a name for the whole.
  const refs = lines.map(line => line.split('\t')).filter(([, ref]) => ref?.startsWith('refs/oneshot'))
  return new Map(refs.map(([commit = '', ref = '']) => [ref, commit]))
}

/**
 * Reaches a remote by its address alone. It gets a name of its own for that: what the repository's configuration says of remotes
 * does not hold for it. A password in the address is in no list of arguments, neither of git nor of what git starts.
 */
async function reach(
  git: Git,
  { url, env }: Channel,
  { doing, isPush }: { doing: string; isPush: boolean },
  run: (speaking: Git, alias: string, call: Call) => Promise<Answer>,
): Promise<Answer> {
  const { rewrite } = await git.protection()
  if (rewrite !== null) refuse(doing, `${rewrite} in the repository’s own configuration leads elsewhere: remove it`)
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => REACHING.test(name)))
  const reaching = git.at(git.cwd, { ...withoutGit(env), ...own, ...ASKING_NOBODY, LC_ALL: 'C' })
  const configured = await settingsFor(reaching)
  const whither = rewritten(url, configured, isPush)
  if (/^(ext|fd)::/i.test(whither)) refuse(doing, 'its address would have git run a command')
  const access = accessTo(whither)
  if (access === null)
    refuse(doing, 'git would show the password in its address to everybody on this machine: use a credential helper')
  if (isInside(git.cwd, access.url))
    refuse(doing, 'it lies in the working tree, and git would run the hooks that are in it: put it elsewhere')
  const alias = `oneshot-${crypto.randomBytes(8).toString('hex')}`
  const speaking = reaching.at(git.cwd, { ...withoutAsking(configured, env), ...access.env })
  const settings = [[`remote.${alias}.url`, access.url] as const, ...asItIs(access.url), ...access.settings]
  const answer = await run(speaking, alias, { settings, reaches: true })
  return { ...answer, stderr: withoutSecrets(answer.stderr.replaceAll(alias, named(url)), access) }
}

function refuse(doing: string, why: string): never {
  throw new Trouble(doing, why, { mayHelpToRetry: false })
}

function failed(doing: string, command: string, answer: Answer): Trouble {
  return new Trouble(doing, new GitFailed(command, answer), { mayHelpToRetry: !HOPELESS.test(answer.stderr) })
}

/** What is configured about addresses, and about ssh. */
async function settingsFor(git: Git): Promise<[key: string, value: string][]> {
  const pattern = '^(core\\.sshcommand|url\\..*\\.(push)?insteadof)$'
  const { stdout } = await git.ask(['config', '--null', '--get-regexp', pattern])
  const entries = stdout.toString().split('\0').slice(0, -1)
  return entries.map(entry => {
    const end = entry.indexOf('\n')
    return end < 0 ? [entry, ''] : [entry.slice(0, end), entry.slice(end + 1)]
  })
}

/** ssh asks at the terminal unless it is told not to; a command that the user has chosen is left as it is. */
function withoutAsking(
  configured: readonly (readonly [key: string, value: string])[],
  env: Channel['env'],
): Record<string, string> {
  if (env['GIT_SSH_COMMAND'] !== undefined || env['GIT_SSH'] !== undefined) return {}
  return configured.some(([key]) => key === 'core.sshcommand') ? {} : { GIT_SSH_COMMAND: 'ssh -o BatchMode=yes' }
}

/** A remote may be an address with a password in it. */
export function named(remote: string): string {
  return remote.includes('://') || remote.includes('@') ? 'the remote' : remote
}
