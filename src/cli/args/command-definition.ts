import { type CompletionSource, FLAG, type ValueType, textType } from './value-types.ts'

export const GROUPS = ['Work', 'Keep', 'Look', 'Supervisor', 'Set-up'] as const

/** A command as data. The parser, help, suggestions, shell completion and the reference all use it. */
export interface CommandDefinition {
  readonly name: string
  readonly aliases?: readonly string[]
  /** Null hides the command from help: it is for programs. */
  readonly group: (typeof GROUPS)[number] | null
  /** The place within its group in help; the smallest number comes first. */
  readonly order?: number
  readonly summary: string
  /** The facts that a person should know beyond the summary. */
  readonly about?: string
  readonly arguments: readonly Argument[]
  readonly options: readonly Option<unknown>[]
  /** The arguments after `--`, which the command hands on unchanged. If absent, `--` merely ends the options. */
  readonly rest?: { readonly placeholder: string; readonly summary: string }
  readonly examples: readonly Example[]
  /** The hint for a line with too many arguments. */
  readonly excessHint?: string
}

export interface Argument {
  readonly summary: string
  readonly valueType: ValueType<string>
  readonly isRequired?: boolean
  readonly isRepeated?: boolean
}

export interface Option<T> {
  /** The name without the two dashes. */
  readonly name: string
  readonly short?: string
  readonly valueType: ValueType<T>
  readonly summary: string
  readonly isRepeated?: boolean
}

export interface Example {
  readonly argv: readonly string[]
  /** A redirection or a pipe, which the shell handles. */
  readonly shell?: string
  readonly description: string
}

export function valueOption<T>(name: string, valueType: ValueType<T>, summary: string, short?: string): Option<T> {
  return short === undefined ? { name, valueType, summary } : { name, valueType, summary, short }
}

export function flag(name: string, summary: string, short?: string): Option<true> {
  return valueOption(name, FLAG, summary, short)
}

export function isFlag(option: Option<unknown>): boolean {
  return option.valueType.placeholder === ''
}

/** Describes the session that a command acts on. `fallback` names the session that a line without a name means. */
export function sessionArgument(
  completion: CompletionSource,
  fallback = 'this directory’s most recent session unless given',
  suggestions: readonly string[] = [],
): Argument {
  const valueType = { ...textType('NAME', completion), suggestions }
  return { valueType, summary: `name, task, id or a unique beginning; ${fallback}` }
}

export function checkpointArgument(placeholder: string, summary: string): Argument {
  return { valueType: textType(placeholder), summary }
}

/** The part of a definition that the index holds, for suggestions and the overview of help. */
export type CommandHeader = Pick<CommandDefinition, 'name' | 'aliases' | 'group' | 'summary'>

export function findCommand<C extends CommandHeader>(commands: readonly C[], word: string): C | undefined {
  return commands.find(command => command.name === word || command.aliases?.includes(word))
}

/** Returns the names for suggestions after a typo. */
export function commandNames(commands: readonly CommandHeader[]): string[] {
  return commands
    .filter(command => command.group !== null)
    .flatMap(command => [command.name, ...(command.aliases ?? [])])
}
