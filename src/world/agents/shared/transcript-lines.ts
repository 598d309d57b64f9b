import { truncateToWidth } from '../../../lib/text/display-width.ts'
import { headAndTail } from '../../../lib/text/head-and-tail.ts'
import { toOneLine, renderTerminalText } from '../../../lib/text/strip-terminal-controls.ts'

/**
 * Formats an agent's events for a transcript, in the same way for every agent. The first characters of a line show its
 * kind, and views colour by them: `● ` a tool call, `  │ ` its output, `✗ ` a failure, `── ` a note, else text.
 */

const MAX_SUMMARY = 160
const MAX_LINE = 200
const MAX_SENTENCE = 500
/** A tool result shows its first lines, the number of lines left out, and its last lines. */
const FIRST_LINES = 3
const LAST_LINES = 2

/** In characters. A line that is not an event may be of any length. */
const MAX_TEXT_END = 131_072

export function formatText(text: string): string | null {
  const words = renderTerminalText(headAndTail(text, MAX_TEXT_END), { colour: false }).trimEnd()
  return words.trim() === '' ? null : `${words}\n`
}

/** `summary` is the one thing that a person wants to know about a call: the command, the file, the pattern. */
export function formatToolCall(tool: string, summary: string): string {
  return `● ${toOneLine(tool)} ${truncate(toOneLine(headAndTail(summary)), MAX_SUMMARY)}`.trimEnd() + '\n'
}

/** Formats the beginning and the end of a tool's output, and marks errors. */
export function formatToolResult(output: string, isError = false): string | null {
  const part = headAndTail(output)
  const lines = renderTerminalText(part, { colour: false }).trimEnd().split('\n')
  if (lines.length === 1 && lines[0]?.trim() === '')
    return isError ? formatError('the tool failed without a word') : null
  const mark = isError ? '  ✗ ' : '  │ '
  return elideMiddle(lines, part === output ? lines.length : output.split('\n').length)
    .map(line => `${mark}${truncate(line.trimEnd(), MAX_LINE)}\n`)
    .join('')
}

function elideMiddle(lines: readonly string[], count: number): readonly string[] {
  const omitted = count - FIRST_LINES - LAST_LINES
  return omitted <= 1 ? lines : [...lines.slice(0, FIRST_LINES), `… ${omitted} more lines`, ...lines.slice(-LAST_LINES)]
}

export function formatError(sentence: string): string {
  return `✗ ${truncate(toOneLine(headAndTail(sentence)), MAX_SENTENCE)}\n`
}

export function formatNote(sentence: string): string {
  return `── ${truncate(toOneLine(headAndTail(sentence)), MAX_SENTENCE)}\n`
}

/** Returns the most informative of a tool's arguments, for the argument names of all agents. */
export function summarizeInput(input: unknown): string {
  if (typeof input !== 'object' || input === null) return typeof input === 'string' ? input : ''
  const fields = input as Record<string, unknown>
  for (const name of SUMMARY_FIELDS) {
    const value = fields[name]
    if (typeof value === 'string' && value !== '') return value
    if (Array.isArray(value) && value.every(item => typeof item === 'string') && value.length > 0)
      return value.join(' ')
  }
  const [first] = Object.values(fields).filter(value => typeof value === 'string' && value !== '')
  return typeof first === 'string' ? first : ''
}

const SUMMARY_FIELDS = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'path',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
]

/** Cuts by columns. It does not measure a far too long text to its end: a line may be a whole minified file. */
export function truncate(text: string, width: number): string {
  return truncateToWidth(text.length > 8 * width ? text.slice(0, 8 * width) : text, width)
}
