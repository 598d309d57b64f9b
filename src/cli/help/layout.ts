import { formatCommandLine } from '../../lib/text/shell-words.ts'
import type { Paint } from '../terminal/colors.ts'
import { type Argument, type CommandDefinition, type Example, type Option, isFlag } from '../args/command-definition.ts'
import type { HelpEntry } from './texts.ts'
import { displayWidth } from '../../lib/text/display-width.ts'

export function section(title: string, lines: readonly string[], paint: Paint): string {
  return [paint.bold(`${title}:`), ...lines.map(line => `  ${line}`)].join('\n')
}

/** Puts names into one column and their summaries into the next. */
export function twoColumns(entries: readonly HelpEntry[], paint: Paint): string[] {
  const width = Math.max(...entries.map(({ name }) => name.length))
  return entries.map(({ name, summary }) => `${paint.cyan(name)}${' '.repeat(width - name.length)}  ${summary}`)
}

/** Returns `-n, --lines N`. */
export function describeOption(option: Option<unknown>): HelpEntry {
  const short = option.short === undefined ? '    ' : `-${option.short}, `
  const value = isFlag(option) ? '' : ` ${valuePlaceholder(option)}`
  const repeatNote = option.isRepeated ? ' (may be repeated)' : ''
  return { name: `${short}--${option.name}${value}`, summary: option.summary + repeatNote }
}

function valuePlaceholder({ valueType }: Option<unknown>): string {
  return valueType.choices !== undefined && valueType.choices.length <= 4
    ? valueType.choices.join('|')
    : valueType.placeholder
}

/** Returns `oneshot run [options] [PROMPT] [-- ARGV...]`. */
export function usageLine(command: CommandDefinition): string {
  const rest = command.rest === undefined ? [] : [`[-- ${command.rest.placeholder}]`]
  return ['oneshot', command.name, '[options]', ...command.arguments.map(argumentUsage), ...rest].join(' ')
}

function argumentUsage({ valueType, isRequired, isRepeated }: Argument): string {
  const name = isRepeated ? `${valueType.placeholder}...` : valueType.placeholder
  return isRequired ? name : `[${name}]`
}

export function exampleLine({ argv, shell }: Example): string {
  return [formatCommandLine(['oneshot', ...argv]), ...(shell === undefined ? [] : [shell])].join(' ')
}

/** In columns. Longer lines are hard to read, even on a wide terminal. */
const MAX_WIDTH = 100

/** Wraps help at words, so that no line is wider than the terminal; text of the second column stays there. */
export function wrapHelp(text: string, width: number): string {
  if (!Number.isFinite(width)) return text
  const widest = Math.max(20, Math.min(width, MAX_WIDTH))
  return joinParagraphs(text.split('\n'))
    .flatMap(line => wrapLine(line, widest))
    .join('\n')
}

/** Joins the lines of a paragraph, so that wrapLine can break them anew. Indented lines stay separate. */
function joinParagraphs(lines: readonly string[]): string[] {
  const joined: string[] = []
  for (const line of lines) {
    const last = joined.at(-1)
    if (last !== undefined && isParagraphLine(last) && isParagraphLine(line))
      joined[joined.length - 1] = `${last} ${line}`
    else joined.push(line)
  }
  return joined
}

function isParagraphLine(line: string): boolean {
  return line !== '' && !line.startsWith(' ')
}

function wrapLine(line: string, width: number): string[] {
  const plain = stripColor(line)
  if (displayWidth(plain) <= width) return [line]
  const [, first = '', second = ''] = /^(\s*(?:\S.*?\s{2,})?)(\S.*)$/.exec(plain) ?? []
  // Only names have colours, and they stand in the first column or begin a line.
  const [prefix, rest] = line.endsWith(second) ? [first, second] : ['', line]
  const indent = prefix.length <= width / 2 ? prefix.length : 6
  const lines = [line.slice(0, line.length - rest.length)]
  let column = displayWidth(prefix)
  for (const word of rest.split(' ')) {
    const length = displayWidth(stripColor(word))
    const isFirst = column === displayWidth(prefix) && lines.length === 1
    const gap = isFirst || column === indent ? '' : ' '
    if (column + gap.length + length > width && !isFirst) {
      lines.push(' '.repeat(indent) + word)
      column = indent + length
    } else {
      lines[lines.length - 1] += gap + word
      column += gap.length + length
    }
  }
  return lines
}

function stripColor(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
  return text.replace(/\u001b\[[\d;]*m/g, '')
}
