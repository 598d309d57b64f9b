import type { LastWord, Mode, Proof } from '../core/session.ts'

/** What an agent's program said, in our words. */
export type Observation =
  | { readonly type: 'threaded'; readonly thread: string }
  | { readonly type: 'asked'; readonly question: string }
  | { readonly type: 'answered' }
  | { readonly type: 'finished'; readonly word: LastWord }

export interface LaunchPlan {
  /** The whole argv, program first. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly stdin: 'prompt' | 'none' | { readonly text: string }
}

/** Knows one agent program: how it is started and resumed, and what its output means. */
export interface Agent {
  readonly kind: string
  readonly proof: Proof
  readonly defaultMode: Mode
  /** Whether it reads a prompt. A command does not. */
  readonly takesPrompt: boolean
  /** Where to find the program when the caller names none: a name for PATH, or an argv of our own. */
  readonly program: string | readonly string[]
  /** How to start it, or to resume the thread. `argv` is the resolved program with the caller's own arguments. */
  plan(order: { argv: readonly string[]; resume: string | null; mode: Mode }): LaunchPlan
  /** What a line of output means, and how a person would read it. Absent when output is not interpreted. */
  readonly read?: (line: string) => { observations: readonly Observation[]; text: string | null }
}
