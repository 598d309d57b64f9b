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

/** A command as data. Parsing, help, suggestions, shell completion and the reference are all made from it. */
export interface Command {
  readonly name: CommandName
  readonly aliases?: readonly string[]
  /** Null keeps it out of help: it is for programs. */
  readonly group: (typeof GROUPS)[number] | null
  readonly summary: string
  /** What a person should know beyond the summary. */
  readonly about?: string
  readonly arguments: readonly Argument[]
  readonly options: readonly Option<unknown>[]
  /** What may follow `--` and is handed on unchanged. Absent: `--` merely ends the options. */
  readonly rest?: { readonly placeholder: string; readonly summary: string }
  readonly examples: readonly Example[]
  /** Said when there are more arguments than it takes. */
  readonly excessHint?: string
}

export interface Argument {
  readonly summary: string
  readonly valueType: ValueType<string>
  readonly isRequired?: boolean
  readonly isRepeated?: boolean
}

export interface Option<T> {
  /** Without the two dashes. */
  readonly name: string
  readonly short?: string
  readonly valueType: ValueType<T>
  readonly summary: string
  readonly isRepeated?: boolean
}

export interface Example {
  readonly argv: readonly string[]
  /** A redirection or a pipe, which is the shell's part. */
  readonly shell?: string
  readonly description: string
}

export function isFlag(option: Option<unknown>): boolean {
  return option.valueType.placeholder === ''
}

/** The session a command is about. `otherwise` is what is meant without a name. */
export function sessionArgument(
  completion: CompletionSource,
  fallback = 'this directory’s most recent session unless given',
): Argument {
  return { valueType: textType('NAME', completion), summary: `name, task, id or a unique beginning; ${fallback}` }
}
