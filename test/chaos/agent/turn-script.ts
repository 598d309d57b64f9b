/**
 * Instructions for one turn of the chaos agent, as words like `steps=5` in a message. Durations are in milliseconds.
 */
export interface TurnScript {
  readonly steps: number
  /** Lines per step, and their length. */
  readonly lines: number
  readonly size: number
  readonly delay: number
  /** The agent crashes in this step, once per turn. */
  readonly crash: number
  /** Each step starts a child process and waits for it. */
  readonly hasTool: boolean
  /** The agent leaves a process behind in a process session of its own. */
  readonly hasLitter: boolean
  readonly asks: boolean
  /** Each step repeats the output of a hostile tool. */
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
