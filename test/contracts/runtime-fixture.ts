import type { Mode } from '../../src/core/session/session.ts'
import type { AttemptRef, LaunchSpec, Runtime } from '../../src/ports/runtime.ts'
import type { ProcessStep, ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'

/** The same program twice: for a real shell, and for the stand-in. */
export interface DualProgram extends Omit<ScriptedProgram, 'run'> {
  readonly sh: string
  readonly steps: readonly ProcessStep[] | ScriptedProgram['run']
}

/** A world in which attempts can be launched, real or not. */
export interface RuntimeFixture {
  readonly work: Runtime
  /** Another supervisor's view of the same world. */
  another(): Runtime
  /** A session that was prepared, and the order to launch its first attempt with this program. */
  order(twin: DualProgram, wishes?: Partial<LaunchSpec> & { prompt?: Uint8Array }): Promise<LaunchSpec>
  /** Waits, in this world's time, until this is so. */
  until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void>
  /** Everything of these attempts that is alive right now. */
  alive(ref: AttemptRef): number
  /** Whether it can be told here at once that nothing of an attempt is left. */
  readonly hasGroups: boolean
  /** Ends everything and checks that nothing is left. */
  close(): Promise<void>
}

/** A world that is opened anew for each test, and the usual ways into it. */
export interface RuntimeTestContext {
  readonly mode: Mode
  readonly bench: RuntimeFixture
  launched(twin: DualProgram, wishes?: object): Promise<LaunchSpec>
  running(twin: DualProgram): Promise<LaunchSpec>
  ended(twin: DualProgram, wishes?: object): Promise<LaunchSpec>
}

/** All it has said so far. A terminal ends lines with \r\n. */
export function outputOf(runtime: Runtime, ref: AttemptRef): string {
  return Buffer.from(runtime.readOutput(ref, 0, 1e9))
    .toString()
    .replaceAll('\r\n', '\n')
}

/** An attempt of the same session, after this one. */
export function nextAttempt(spec: LaunchSpec): LaunchSpec {
  return { ...spec, attempt: spec.attempt + 1 }
}

/** Says a word and ends. */
export const HELLO: DualProgram = { sh: 'echo hello', steps: [{ say: 'hello\n' }] }
/** Says that it is ready, and stays. */
export const PATIENT: DualProgram = {
  sh: 'echo ready; exec sleep 1000',
  steps: [{ say: 'ready\n' }, { wait: Infinity }],
}
