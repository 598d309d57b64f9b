import { parseDuration } from '../../../lib/time.ts'

/** The actions that a prompt asks of the demo agent. */
export interface DemoScript {
  readonly steps: number
  readonly delay: number
  /** The agent dies by SIGKILL in this step, once per prompt; with `crashAlways`, in every process. */
  readonly crash: number | null
  readonly crashAlways: boolean
  /** The agent falls silent for ever in this step, once per prompt. */
  readonly hang: number | null
  readonly fail: boolean
  /** A file in the working directory to which the agent appends a line for each step. */
  readonly write: string | null
  readonly ask: string | null
  /** The time that the agent waits for an answer before it continues without one. */
  readonly patience: number
  /** The size in bytes of the text that the agent writes in each step. */
  readonly talk: number
  /** The agent leaves a tool process behind, in a process session of its own. */
  readonly litter: boolean
}

/**
 * Parses directives such as `steps=20`. The first of each kind counts; the agent only echoes the rest of the prompt.
 */
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
