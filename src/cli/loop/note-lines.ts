import { displayWidth } from '../../lib/text/display-width.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'

/** Columns. A command stands out from the sentence around it. */
const COMMAND_INDENT = 2

/**
 * Matches a command within a sentence: in backquotes, or after a colon up to the words that continue the sentence.
 * Groups: the quoted and the bare command.
 */
const COMMAND = /`([^`]+)`|(?<=: )((?:git|oneshot|cp|mv|rm) .+?)(?=; |, then |, and | brings? |$)/g

/**
 * Renders `label: sentence` in lines of at most `width` columns. In a sentence of several lines each command has a line
 * of its own, in full, so that a user can copy it; `isWrapped` breaks a command that is wider than the terminal.
 */
export function noteLines(
  label: string,
  sentence: string,
  { width, isWrapped }: { width: number; isWrapped: boolean },
): string[] {
  const first = `  ${label}: `
  const text = toOneLine(sentence)
  if (displayWidth(first + text) <= width) return [first + text]
  const indent = ' '.repeat(first.length)
  const commandIndent = indent + ' '.repeat(COMMAND_INDENT)
  const lines = splitCommands(text).flatMap(({ kind, text }) =>
    kind === 'words'
      ? wrapWords(text, width - first.length).map(line => indent + line)
      : (isWrapped ? wrapColumns(text, width - commandIndent.length) : [text]).map(line => commandIndent + line),
  )
  return lines.map((line, index) => (index === 0 ? first + line.slice(first.length) : line))
}

/** Returns true if the sentence contains a command for the user. */
export function hasCommand(sentence: string): boolean {
  return splitCommands(sentence).some(({ kind }) => kind === 'command')
}

function splitCommands(text: string): { kind: 'words' | 'command'; text: string }[] {
  const parts: { kind: 'words' | 'command'; text: string }[] = []
  let end = 0
  for (const match of text.matchAll(COMMAND)) {
    parts.push({ kind: 'words', text: text.slice(end, match.index) })
    parts.push({ kind: 'command', text: match[1] ?? match[2] ?? '' })
    end = match.index + match[0].length
  }
  parts.push({ kind: 'words', text: text.slice(end) })
  return parts.map(part => ({ ...part, text: part.text.trim() })).filter(part => part.text !== '')
}

/** Breaks between words; a word that is wider than a line is broken too. */
function wrapWords(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ').flatMap(word => wrapColumns(word, width))) {
    const last = lines.at(-1)
    if (last !== undefined && displayWidth(`${last} ${word}`) <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function wrapColumns(text: string, width: number): string[] {
  const lines = ['']
  for (const character of text) {
    const longer = `${lines.at(-1)}${character}`
    if (displayWidth(longer) <= Math.max(width, 2)) lines[lines.length - 1] = longer
    else lines.push(character)
  }
  return lines
}
