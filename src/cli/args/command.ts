import { type CompletionSource, type ValueType, textType } from './value-types.ts'

export const GROUPS = ['Work', 'Keep', 'Look', 'Supervisor', 'Set-up'] as const

export type CommandName =
  | 'run'
  | 'ralph'
  | 'build'
  | 'send'
  | 'tasks'
  | 'resume'
  | 'hold'
  | 'attach'
  | 'stop'
  | 'restart'
  | 'rename'
  | 'killall'
  | 'wait'
  | 'clean'
  | 'list'
  | 'status'
  | 'verify'
  | 'log'
  | 'events'
  | 'debug'
  | 'messages'
  | 'follow'
  | 'checkpoint'
  | 'checkpoints'
  | 'diff'
  | 'restore'
  | 'daemon'
  | 'boot'
  | 'doctor'
  | 'update'
  | 'config'
  | 'notify'
  | 'completion'
  | 'demo'
  | 'help'
  | 'version'
  | '__complete'

/** A command as data. The parser, help, suggestions, shell completion and the reference all use it. */
export interface Command {
  readonly name: CommandName
  readonly aliases?: readonly string[]
  /** Null hides the command from help: it is for programs. */
  readonly group: (typeof GROUPS)[number] | null
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

export function isFlag(option: Option<unknown>): boolean {
  return option.valueType.placeholder === ''
}

/** Describes the session that a command acts on. `fallback` names the session that a line without a name means. */
export function sessionArgument(
  completion: CompletionSource,
  fallback = 'this directory’s most recent session unless given',
): Argument {
  return { valueType: textType('NAME', completion), summary: `name, task, id or a unique beginning; ${fallback}` }
}
