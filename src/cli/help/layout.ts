import { commandLine } from '../../lib/quote.ts'
import type { Paint } from '../screen/paint.ts'
import { type Argument, type Command, type Example, isFlag, type Option } from '../table/command.ts'
import type { Fact } from './facts.ts'

export function section(title: string, lines: readonly string[], paint: Paint): string {
  return [paint.bold(`${title}:`), ...lines.map(line => `  ${line}`)].join('\n')
}

/** Names in one column, what they mean in the next. */
export function pairs(facts: readonly Fact[], paint: Paint): string[] {
  const width = Math.max(...facts.map(({ name }) => name.length))
  return facts.map(({ name, summary }) => `${paint.cyan(name)}${' '.repeat(width - name.length)}  ${summary}`)
}

/** `-n, --lines N` */
export function optionFact(option: Option<unknown>): Fact {
  const short = option.short === undefined ? '    ' : `-${option.short}, `
  const value = isFlag(option) ? '' : ` ${valueOf(option)}`
  const again = option.isRepeated ? ' (may be repeated)' : ''
  return { name: `${short}--${option.name}${value}`, summary: option.summary + again }
}

function valueOf({ kind }: Option<unknown>): string {
  return kind.choices !== undefined && kind.choices.length <= 4 ? kind.choices.join('|') : kind.placeholder
}

/** `oneshot run [options] [PROMPT] [-- ARGV...]` */
export function usageOf(command: Command): string {
  const rest = command.rest === undefined ? [] : [`[-- ${command.rest.placeholder}]`]
  return ['oneshot', command.name, '[options]', ...command.arguments.map(argumentUsage), ...rest].join(' ')
}

function argumentUsage({ kind, isRequired, isRepeated }: Argument): string {
  const name = isRepeated ? `${kind.placeholder}...` : kind.placeholder
  return isRequired ? name : `[${name}]`
}

export function exampleLine({ argv, shell }: Example): string {
  return [commandLine(['oneshot', ...argv]), ...(shell === undefined ? [] : [shell])].join(' ')
}
