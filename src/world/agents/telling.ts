import { cutToWidth } from '../../lib/display-width.ts'
import { endsOf } from '../../lib/ends-of.ts'
import { oneLine, readable } from '../../lib/terminal-text.ts'

/**
 * How an agent's events read in a transcript, the same for every agent. Each line's first characters tell what it is, and
 * views colour by them: `● ` a tool is called, `  │ ` what it gave back, `✗ ` something failed, `── ` a note, else words.
 */

const LONGEST_GIST = 160
const LONGEST_LINE = 200
const LONGEST_SENTENCE = 500
/** Of what a tool gave back: its first lines, how many were left out, and its last ones. */
const FIRST_LINES = 3
const LAST_LINES = 2

/** A line that is no event may be of any length. */
const LONGEST_SAID = 131_072

export function said(text: string): string | null {
  const words = readable(endsOf(text, LONGEST_SAID), { colour: false }).trimEnd()
  return words.trim() === '' ? null : `${words}\n`
}

/** `gist` is the one thing a person wants to know of a call: the command, the file, the pattern. */
export function called(tool: string, gist: string): string {
  return `● ${oneLine(tool)} ${cut(oneLine(endsOf(gist)), LONGEST_GIST)}`.trimEnd() + '\n'
}

/** The beginning and the end of what a tool gave back; errors are marked. */
export function returned(output: string, isError = false): string | null {
  const part = endsOf(output)
  const lines = readable(part, { colour: false }).trimEnd().split('\n')
  if (lines.length === 1 && lines[0]?.trim() === '') return isError ? failed('the tool failed without a word') : null
  const mark = isError ? '  ✗ ' : '  │ '
  return shortened(lines, part === output ? lines.length : output.split('\n').length)
    .map(line => `${mark}${cut(line.trimEnd(), LONGEST_LINE)}\n`)
    .join('')
}

function shortened(lines: readonly string[], count: number): readonly string[] {
  const left = count - FIRST_LINES - LAST_LINES
  return left <= 1 ? lines : [...lines.slice(0, FIRST_LINES), `… ${left} more lines`, ...lines.slice(-LAST_LINES)]
}

export function failed(sentence: string): string {
  return `✗ ${cut(oneLine(endsOf(sentence)), LONGEST_SENTENCE)}\n`
}

export function noted(sentence: string): string {
  return `── ${cut(oneLine(endsOf(sentence)), LONGEST_SENTENCE)}\n`
}

/** The most telling of a tool's arguments, whatever the agent calls them. */
export function gistOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return typeof input === 'string' ? input : ''
  const fields = input as Record<string, unknown>
  for (const name of TELLING) {
    const value = fields[name]
    if (typeof value === 'string' && value !== '') return value
    if (Array.isArray(value) && value.every(item => typeof item === 'string') && value.length > 0)
      return value.join(' ')
  }
  const [first] = Object.values(fields).filter(value => typeof value === 'string' && value !== '')
  return typeof first === 'string' ? first : ''
}

const TELLING = ['command', 'cmd', 'file_path', 'filePath', 'path', 'pattern', 'query', 'url', 'description', 'prompt']

/** Counts columns. What is far too long is not measured to its end: a line may be the whole of a packed file. */
export function cut(text: string, width: number): string {
  return cutToWidth(text.length > 8 * width ? text.slice(0, 8 * width) : text, width)
}
