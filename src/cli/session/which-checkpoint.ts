import { refusal } from '../../api/contract/problems.ts'
import type { CheckpointView, SessionView } from '../../api/contract/session-view.ts'

/** How a person names a checkpoint: by number, from either end, or by the beginning of its commit. */
const CHECKPOINT_WORD = /^(?:\d{1,9}|first|last|now|[0-9a-f]{7,64})$/
/** Less of a commit is a number that was mistyped. */
const COMMIT_WORD = /^[0-9a-f]{7,64}$/

export function isCheckpointWord(word: string): boolean {
  return CHECKPOINT_WORD.test(word)
}

/** The checkpoint that is meant. */
export function whichCheckpoint(
  all: readonly CheckpointView[],
  word: string,
  { name }: Pick<SessionView, 'name'>,
): CheckpointView {
  const found = find(all, word)
  if (found !== undefined) return found
  if (all.length === 0) throw refusal('no-checkpoint', `${name} has no checkpoints yet`, `oneshot checkpoint ${name}`)
  throw refusal('no-checkpoint', `${name} has no checkpoint ${word}`, `oneshot checkpoints ${name}`)
}

function find(all: readonly CheckpointView[], word: string): CheckpointView | undefined {
  if (word === 'first') return all[0]
  if (word === 'last') return all.at(-1)
  const numbered = all.find(({ number }) => String(number) === word)
  if (numbered !== undefined || !COMMIT_WORD.test(word)) return numbered
  return all.find(({ commit }) => commit.startsWith(word))
}
