import { Trouble } from '../../lib/trouble.ts'
import type { Git } from './git.ts'
import { GitFailed } from './git-failed.ts'
import { ASKING_NOBODY, withoutGit } from './means.ts'
import type { Link } from './link.ts'
import { type Place, REFS } from './place.ts'
import { tipsIn } from './read.ts'
import { UPDATE_REF } from './ref.ts'

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

/** Brings the ref to a remote, and those of worktrees that lie in this one. What is there by the same names is replaced. */
export async function push({ git, ref }: Place, remote: string, env: Readonly<Record<string, string>>): Promise<void> {
  const how = ['--quiet', '--no-verify', '--no-signed', '--no-follow-tags', '--recurse-submodules=no']
  await speak(git, `pushing to ${named(remote)}`, env, ['push', ...how, '--', remote, `+${ref}*:${ref}*`])
}

/** Where what is fetched lies until it is known which of it is further. */
const FETCHED = 'refs/oneshot-fetched'

/**
 * Brings the refs of a name, or of all, from a remote. Those that are here and are not behind stay as they are. Which is further
 * is told by the numbers: once one of them was thinned, neither has grown out of the other.
 */
export async function fetch(
  git: Git,
  given: { remote: string; name: string | null; env: Readonly<Record<string, string>> },
): Promise<void> {
  const { remote, name, env } = given
  const below = name === null ? '' : `/${name}`
  // Configured by the user, git would remove refs that the remote does not have, and touch others that it does have.
  const how = [
    '--no-progress',
    '--no-tags',
    '--no-prune',
    '--refmap=',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
  ]
  await speak(git, `fetching from ${named(remote)}`, env, [
    'fetch',
    ...how,
    '--',
    remote,
    `+${REFS}${below}/*:${FETCHED}${below}/*`,
  ])
  await takeFurther(git)
}

async function takeFurther(git: Git): Promise<void> {
  const [here, there] = [await tipsIn(git, REFS), await tipsIn(git, FETCHED)]
  const fetched = (await git.run(['for-each-ref', '--format=%(refname)', FETCHED])).toString().split('\n').slice(0, -1)
  const orders = fetched.map(scratch => {
    const ref = scratch.replace(FETCHED, REFS)
    const [ours, theirs] = [here.get(ref), there.get(scratch)]
    const isTaken = theirs !== undefined && (ours === undefined || isFurther(theirs, ours))
    // Ours may be there, and lead to a commit that is not.
    const before = ours === undefined ? '' : ` ${ours.commit}`
    return `${isTaken ? `update ${ref} ${theirs.commit}${before}\n` : ''}delete ${scratch}\n`
  })
  await git.run([...UPDATE_REF, '--stdin'], { input: orders.join('') })
}

function isFurther({ telling: one }: Link, { telling: other }: Link): boolean {
  return one.number > other.number || (one.number === other.number && one.at > other.at)
}

async function speak(git: Git, doing: string, env: Readonly<Record<string, string>>, words: string[]): Promise<void> {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => REACHING.test(name)))
  const reaching = { ...withoutGit(env), ...own, ...ASKING_NOBODY, ...(await withoutAsking(git, env)) }
  const speaking = git.at(git.cwd, { ...reaching, LC_ALL: 'C' })
  const answer = await speaking.ask(words)
  if (answer.code === 0) return
  throw new Trouble(doing, new GitFailed(words[0] ?? '', answer), { mayHelpToRetry: !HOPELESS.test(answer.stderr) })
}

/** ssh asks at the terminal unless it is told not to; a command that the user has chosen is left as it is. */
async function withoutAsking(git: Git, env: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  if (env['GIT_SSH_COMMAND'] !== undefined || env['GIT_SSH'] !== undefined) return {}
  const { code } = await git.ask(['config', 'core.sshCommand'])
  return code === 0 ? {} : { GIT_SSH_COMMAND: 'ssh -o BatchMode=yes' }
}

/** A remote may be an address with a password in it. */
function named(remote: string): string {
  return remote.includes('://') || remote.includes('@') ? 'the remote' : remote
}
