import { parseDuration } from '../../../lib/time.ts'

/** What a prompt tells the demo agent to do. */
export interface DemoScript {
  readonly steps: number
  readonly delay: number
  /** Dies by SIGKILL in this step, once per thread; `crashAlways` in every life. */
  readonly crash: number | null
  readonly crashAlways: boolean
  /** Falls silent for ever in this step, once per thread. */
  readonly hang: number | null
  readonly fail: boolean
  /** A file in the working directory that gets a line for each step. */
  readonly write: string | null
  readonly ask: string | null
  /** How long it waits for an answer before it goes on without one. */
  readonly patience: number
  /** Bytes of text said in each step. */
  readonly talk: number
  /** A tool process left behind in a session of its own. */
  readonly litter: boolean
}

/** Directives are words like `steps=20`, of which the first of each counts; everything else in the prompt is only echoed. */
export function parseScript(prompt: string): DemoScript {
  const found = new Map<string, string>()
  for (const [, key, quoted, plain] of prompt.matchAll(/(?:^|\s)([a-z]+)=(?:"([^"]*)"|(\S+))/g)) {
    if (!found.has(key as string)) found.set(key as string, quoted ?? plain ?? '')
  }
  const number = (key: string): number | null => {
    const value = found.get(key)
    return value !== undefined && /^\d+$/.test(value) ? Number(value) : null
  }
  const duration = (key: string): number | undefined => {
    const value = found.get(key)
    return value === undefined ? undefined : parseDuration(value)
  }
  return {
    steps: number('steps') ?? 5,
    delay: duration('delay') ?? 300,
    crash: number('crash'),
    crashAlways: found.get('crash') === 'always',
    hang: number('hang'),
    fail: found.get('fail') === 'yes',
    write: found.get('write') ?? null,
    ask: found.get('ask') ?? null,
    patience: duration('patience') ?? 30_000,
    talk: number('talk') ?? 0,
    litter: found.get('litter') === 'yes',
  }
}

export const DIRECTIVES: readonly (readonly [string, string])[] = [
  ['steps=20', 'how many steps the work has (5)'],
  ['delay=100ms', 'how long a step takes (300ms)'],
  ['write=notes.txt', 'a file in the working directory that gets one line per step'],
  ['crash=3', 'die by SIGKILL in step 3, once; crash=always in every life'],
  ['hang=3', 'fall silent in step 3, once'],
  ['fail=yes', 'end the turn with a failure'],
  ['ask="May I?"', 'ask for approval before the first step; patience=5s to continue without an answer'],
  ['talk=10000', 'bytes of text in each step'],
  ['litter=yes', 'leave a tool process behind in a session of its own'],
]
