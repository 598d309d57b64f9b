/** How a run is asked for. */
export interface Options {
  readonly repository: string
  /** The agent's program, bundled. */
  readonly agent: string
  readonly kills: number
  readonly seed: number
  readonly sessions: number
  readonly minutes: number
  /** Names of the faults that may come; all when empty. */
  readonly only: readonly string[]
  readonly keep: boolean
  readonly say: (sentence: string) => void
}
