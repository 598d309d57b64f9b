import { Mask } from './mask.ts'

/**
 * A text without its secrets, and no longer than that. They are hidden before it is cut: a secret that is cut off is not
 * known as one any more, and may still be nearly whole.
 */
export function cut(text: string, length: number, mask = new Mask()): string {
  const hidden = mask.hide(text)
  return hidden.length <= length ? hidden : `${hidden.slice(0, length - 1)}…`
}
