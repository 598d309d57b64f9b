/** The promises that a chaos run checks; `stuck` is a session that never ended. */
export type Promised =
  | 'bytes'
  | 'transcript'
  | 'messages'
  | 'one attempt'
  | 'one supervisor'
  | 'orphans'
  | 'evidence'
  | 'shown'
  | 'terminal'
  | 'untouched'
  | 'kept'
  | 'stuck'
  | 'bug'

/** The broken promises of a run. */
export class Findings {
  readonly all: { readonly promise: Promised; readonly evidence: string }[] = []
  readonly #say: (sentence: string) => void

  constructor(say: (sentence: string) => void) {
    this.#say = say
  }

  add(promise: Promised, evidence: string): void {
    this.all.push({ promise, evidence })
    this.#say(`BROKEN ${promise}: ${evidence}`)
  }

  count(...promises: Promised[]): number {
    return this.all.filter(({ promise }) => promises.includes(promise)).length
  }

  /** Returns true if there is a finding about the session. */
  names(session: string): boolean {
    return this.all.some(({ evidence }) => evidence.startsWith(`${session}:`))
  }
}
