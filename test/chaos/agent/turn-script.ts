/** What a message tells the chaos agent to do in its turn, in words like `steps=5`. Durations are milliseconds. */
export interface TurnScript {
  readonly steps: number
  /** Lines written in each step, and their length. */
  readonly lines: number
  readonly size: number
  readonly delay: number
  /** Dies by itself in this step, once in the turn. */
  readonly crash: number
  /** In each step a child that does something, and is waited for. */
  readonly hasTool: boolean
  /** A process left behind in a process session of its own. */
  readonly hasLitter: boolean
  readonly asks: boolean
  /** Each step repeats what a hostile tool gave back. */
  readonly isPoisoned: boolean
}

export function parseTurn(text: string): TurnScript {
  const words = new Map([...text.matchAll(/(?:^|\s)([a-z]+)=(\d+)/g)].map(([, key, value]) => [key, Number(value)]))
  const number = (key: string, otherwise: number): number => words.get(key) ?? otherwise
  return {
    steps: number('steps', 3),
    lines: number('lines', 3),
    size: number('size', 80),
    delay: number('delay', 50),
    crash: number('crash', 0),
    hasTool: number('tool', 0) > 0,
    hasLitter: number('litter', 0) > 0,
    asks: number('ask', 0) > 0,
    isPoisoned: number('poison', 0) > 0,
  }
}
