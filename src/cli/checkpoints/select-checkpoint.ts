import { refusal } from '../../api/contract/problems.ts'
import type { CheckpointView, SessionView } from '../../api/contract/responses.ts'

/** A reference to a checkpoint: its number, a position from either end, or a prefix of its commit. */
const CHECKPOINT_REFERENCE = /^(?:\d{1,9}|first|last|now|[0-9a-f]{7,64})$/
/** A shorter prefix of a commit is a mistyped number. */
const COMMIT_PREFIX = /^[0-9a-f]{7,64}$/

export function isCheckpointReference(word: string): boolean {
  return CHECKPOINT_REFERENCE.test(word)
}

/** Returns the checkpoint that the word refers to, or refuses. */
export function selectCheckpoint(
  all: readonly CheckpointView[],
  word: string,
  { name }: Pick<SessionView, 'name'>,
): CheckpointView {
  const found = findCheckpoint(all, word)
  if (found !== undefined) return found
  if (all.length === 0) throw refusal('no-checkpoint', `${name} has no checkpoints yet`, `oneshot checkpoint ${name}`)
  throw refusal('no-checkpoint', `${name} has no checkpoint ${word}`, `oneshot checkpoints ${name}`)
}

function findCheckpoint(all: readonly CheckpointView[], word: string): CheckpointView | undefined {
  if (word === 'first') return all[0]
  if (word === 'last') return all.at(-1)
  const numbered = all.find(({ number }) => String(number) === word)
  if (numbered !== undefined || !COMMIT_PREFIX.test(word)) return numbered
  return all.find(({ commit }) => commit.startsWith(word))
}
