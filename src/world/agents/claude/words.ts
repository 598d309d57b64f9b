import { jsons, text } from '../json.ts'

/** The words of a message's or a tool result's content: a string, or blocks of which some are text. */
export function wordsIn(content: unknown): string {
  if (typeof content === 'string') return content
  return jsons(content)
    .filter(block => block['type'] === 'text')
    .map(block => text(block['text']))
    .join('\n')
}
