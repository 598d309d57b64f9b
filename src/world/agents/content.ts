import { jsons, text } from './json.ts'

/** The words of a message or of what a tool gave back: a string, or blocks of which some are text. */
export function wordsIn(content: unknown): string {
  if (typeof content === 'string') return content
  return jsons(content)
    .filter(block => block['type'] === 'text')
    .map(block => text(block['text']))
    .join('\n')
}

/** The same where text is written down in pieces, whatever their types are. */
export function piecesIn(content: unknown): string {
  if (typeof content === 'string') return content
  return jsons(content)
    .map(piece => text(piece['text']))
    .join('')
}
