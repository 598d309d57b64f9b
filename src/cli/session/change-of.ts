import { oneLine } from '../../lib/terminal-text.ts'
import type { CheckpointView } from '../../api/contract/session-view.ts'

/** `3 files, +10 −2` */
export function changeOf({ files, added, removed }: Pick<CheckpointView, 'files' | 'added' | 'removed'>): string {
  return `${files} ${files === 1 ? 'file' : 'files'}, +${added} −${removed}`
}

/** A sentence about what is not in a checkpoint. */
export function leftOut(sentence: string): string {
  return `left out: ${oneLine(sentence)}`
}
