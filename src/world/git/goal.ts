import { GitFailed } from './git-failed.ts'
import { OURS } from './identity.ts'
import type { Place } from './place.ts'
import type { RawCommit } from './read-commits.ts'
import { UPDATE_REF } from './ref.ts'

/** Of the ref beside that of a session which keeps the messages that are too long for each checkpoint. */
export const goalSuffix = '+goal'

/** Bytes; more is not read. */
const LARGEST = 8 * 1024 * 1024
const MOST_MESSAGES = 1_000

const WRITE = `
blob=$(git hash-object -w --stdin) || exit
tree=$(printf '100644 blob %s\\tgoal\\n' "$blob" | git mktree) || exit
before=$(git rev-parse --verify --quiet "$1^{commit}")
test "$(git rev-parse --verify --quiet "$1^{tree}")" = "$tree" && exit
commit=$(git commit-tree \${before:+-p "$before"} -m "$2" "$tree") || exit
git ${UPDATE_REF.join(' ')} "$1" "$commit" "\${before:-$3}"
`

/** Keeps all messages of a session whole, under a ref that goes where its checkpoints go. */
export async function keepGoal(
  { git, ref, sessionId, memory, repository }: Place,
  goal: readonly string[],
): Promise<void> {
  const input = JSON.stringify(goal)
  if (memory.goals.get(ref) === input) return
  const words = [`${ref}${goalSuffix}`, messageOf(sessionId), repository.nothing.commit]
  const answer = await git.script(WRITE, words, { input, env: OURS })
  if (answer.code !== 0) throw new GitFailed('commit-tree', answer)
  memory.goals.set(ref, input)
}

/** The messages, whole; null where none are kept. */
export async function readGoal({ git, ref }: Place): Promise<string[] | null> {
  const name = `${ref}${goalSuffix}:goal`
  const [blob = '', type, size] = (await git.line(['cat-file', '--batch-check'], { input: `${name}\n` })).split(' ')
  if (type !== 'blob' || Number(size) > LARGEST) return null
  return messagesIn((await git.run(['cat-file', 'blob', blob])).toString())
}

function messagesIn(text: string): string[] | null {
  try {
    const goal: unknown = JSON.parse(text)
    const isGoal = Array.isArray(goal) && goal.length <= MOST_MESSAGES && goal.every(part => typeof part === 'string')
    return isGoal ? goal : null
  } catch {
    return null // It is not ours.
  }
}

export function isGoal({ message }: RawCommit, sessionId: string): boolean {
  return message.toString().trim() === messageOf(sessionId)
}

function messageOf(sessionId: string): string {
  return `oneshot: the messages of a session\n\nOneshot-Goal: ${sessionId}`
}
