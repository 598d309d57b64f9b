import type { Mode } from '../../src/core/session.ts'
import type { AttemptRef, LaunchOrder, Work } from '../../src/ports/work.ts'
import type { Deed, Program } from '../../src/testkit/memory/scripted-process.ts'

/** The same program twice: for a real shell, and for the stand-in. */
export interface Twin extends Omit<Program, 'run'> {
  readonly sh: string
  readonly deeds: readonly Deed[] | Program['run']
}

/** A world in which attempts can be launched, real or not. */
export interface WorkBench {
  readonly work: Work
  /** Another supervisor's view of the same world. */
  another(): Work
  /** A session that was prepared, and the order to launch its first attempt with this program. */
  order(twin: Twin, wishes?: Partial<LaunchOrder> & { prompt?: Uint8Array }): Promise<LaunchOrder>
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
export interface Given {
  readonly mode: Mode
  readonly bench: WorkBench
  launched(twin: Twin, wishes?: object): Promise<LaunchOrder>
  running(twin: Twin): Promise<LaunchOrder>
  ended(twin: Twin, wishes?: object): Promise<LaunchOrder>
}

/** All it has said so far. A terminal ends lines with \r\n. */
export function said(work: Work, ref: AttemptRef): string {
  return Buffer.from(work.read(ref, 0, 1e9))
    .toString()
    .replaceAll('\r\n', '\n')
}

/** An attempt of the same session, after this one. */
export function next(order: LaunchOrder): LaunchOrder {
  return { ...order, attempt: order.attempt + 1 }
}

/** Says a word and ends. */
export const HELLO: Twin = { sh: 'echo hello', deeds: [{ say: 'hello\n' }] }
/** Says that it is ready, and stays. */
export const PATIENT: Twin = { sh: 'echo ready; exec sleep 1000', deeds: [{ say: 'ready\n' }, { wait: Infinity }] }
