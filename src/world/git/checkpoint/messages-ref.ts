import type { SessionId } from '../../../core/session/session-id-and-name.ts'
import { listOf, string, tryParseJson } from '../../../lib/codec.ts'
import { GitError } from '../git-error.ts'
import { ONESHOT_IDENTITY } from '../repository.ts'
import type { RepositoryContext } from '../repository-context.ts'
import type { RawCommit } from './read-commits.ts'
import { UPDATE_REF } from '../update-ref.ts'

/** The suffix of a second ref of the session. It stores the messages that are too long for every checkpoint. */
export const goalSuffix = '+goal'

/** Bytes; the reader ignores a larger blob. */
const MAX_GOAL_SIZE = 8 * 1024 * 1024
const MAX_MESSAGES = 1_000

const WRITE_SCRIPT = `
blob=$(git hash-object -w --stdin) || exit
tree=$(printf '100644 blob %s\\tgoal\\n' "$blob" | git mktree) || exit
before=$(git rev-parse --verify --quiet "$1^{commit}")
test "$(git rev-parse --verify --quiet "$1^{tree}")" = "$tree" && exit
commit=$(git commit-tree \${before:+-p "$before"} -m "$2" "$tree") || exit
git ${UPDATE_REF.join(' ')} "$1" "$commit" "\${before:-$3}"
`

/** Stores all messages of a session in full, under a ref that a push includes. */
export async function saveGoal(
  { git, ref, sessionId, cache, repository }: RepositoryContext,
  goal: readonly string[],
): Promise<void> {
  const input = JSON.stringify(goal)
  if (cache.goals.get(ref) === input) return
  const args = [`${ref}${goalSuffix}`, commitMessageFor(sessionId), repository.emptyIds.commit]
  const result = await git.runScript(WRITE_SCRIPT, args, { input, env: ONESHOT_IDENTITY })
  if (result.code !== 0) throw new GitError('commit-tree', result)
  cache.goals.set(ref, input)
}

/** Returns the full messages, or null if the ref does not exist. */
export async function readGoal({ git, ref }: RepositoryContext): Promise<string[] | null> {
  const name = `${ref}${goalSuffix}:goal`
  const [blob = '', type, size] = (await git.runForLine(['cat-file', '--batch-check'], { input: `${name}\n` })).split(
    ' ',
  )
  if (type !== 'blob' || Number(size) > MAX_GOAL_SIZE) return null
  const text = (await git.run(['cat-file', 'blob', blob])).toString()
  return tryParseJson(text, listOf(string, MAX_MESSAGES)) // Another program may have written it.
}

export function isGoalCommit({ message }: RawCommit, sessionId: SessionId): boolean {
  return message.toString().trim() === commitMessageFor(sessionId)
}

function commitMessageFor(sessionId: SessionId): string {
  return `oneshot: the messages of a session\n\nOneshot-Goal: ${sessionId}`
}
