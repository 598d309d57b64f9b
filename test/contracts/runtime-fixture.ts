import type { Mode } from '../../src/core/session/session-state.ts'
import type { AttemptRef, LaunchSpec, Runtime } from '../../src/ports/runtime.ts'
import type { ProcessStep, ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'

/** The same program twice: for a real shell, and for the in-memory runtime. */
export interface DualProgram extends Omit<ScriptedProgram, 'run'> {
  readonly sh: string
  readonly steps: readonly ProcessStep[] | ScriptedProgram['run']
}

/** A runtime, real or in memory, in which tests launch attempts. */
export interface RuntimeFixture {
  readonly work: Runtime
  /** Returns another supervisor's runtime on the same machine. */
  another(): Runtime
  /** Prepares a session and returns the launch spec of its first attempt with this program. */
  order(program: DualProgram, overrides?: Partial<LaunchSpec> & { prompt?: Uint8Array }): Promise<LaunchSpec>
  /** Waits, in this runtime's time, until the condition holds. */
  until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void>
  /** Returns the number of living processes of this attempt. */
  alive(ref: AttemptRef): number
  /** True if the runtime knows at once that an attempt has no processes left. */
  readonly hasGroups: boolean
  /** Ends everything and checks that nothing is left. */
  close(): Promise<void>
}

/** A fixture that is opened for each test, and its usual shortcuts. */
export interface RuntimeTestContext {
  readonly mode: Mode
  readonly bench: RuntimeFixture
  launched(program: DualProgram, overrides?: object): Promise<LaunchSpec>
  running(program: DualProgram): Promise<LaunchSpec>
  ended(program: DualProgram, overrides?: object): Promise<LaunchSpec>
}

/** Returns all output so far, with the line ends of a terminal removed. */
export function outputOf(runtime: Runtime, ref: AttemptRef): string {
  return Buffer.from(runtime.readOutput(ref, 0, 1e9))
    .toString()
    .replaceAll('\r\n', '\n')
}

/** Returns the next attempt of the same session. */
export function nextAttempt(spec: LaunchSpec): LaunchSpec {
  return { ...spec, attempt: spec.attempt + 1 }
}

/** Prints a word and exits. */
export const HELLO: DualProgram = { sh: 'echo hello', steps: [{ say: 'hello\n' }] }
/** Prints that it is ready, and stays. */
export const PATIENT: DualProgram = {
  sh: 'echo ready; exec sleep 1000',
  steps: [{ say: 'ready\n' }, { wait: Infinity }],
}
