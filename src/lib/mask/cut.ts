import { Mask } from './mask.ts'

/**
 * The beginning of a text that is too long. What is secret in it is hidden before: a secret that is cut off is not known as one
 * any more, and may still be nearly whole.
 */
export function cut(text: string, length: number, mask = new Mask()): string {
  return text.length <= length ? text : `${mask.hide(text).slice(0, length - 1)}…`
}
