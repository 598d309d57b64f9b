/** Options of a run. */
export interface Options {
  readonly repository: string
  /** The bundled agent program. */
  readonly agent: string
  readonly kills: number
  readonly seed: number
  readonly sessions: number
  readonly minutes: number
  /** Names of the possible faults; empty for all. */
  readonly only: readonly string[]
  readonly keep: boolean
  readonly say: (sentence: string) => void
}
