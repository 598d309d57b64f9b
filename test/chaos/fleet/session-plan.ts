import { between, type RandomSource } from '../../../testkit/system/seeded-random.ts'

/** The plan of a user for one session, decided before it starts. */
export interface SessionPlan {
  readonly task: string
  readonly mode: 'headless' | 'tty'
  /** The prompt is the first message. */
  readonly messages: readonly string[]
  /** Milliseconds before each further message. */
  readonly pauses: readonly number[]
  /** Milliseconds after which the user stops the session; null for never. */
  readonly stopAfter: number | null
  readonly isResumedAfterStop: boolean
  /** A message after the end, which wakes the session. */
  readonly afterthought: string | null
}

const TTY_SHARE = 0.2
const STOP_SHARE = 0.15

export function makeSessionPlan(task: string, random: RandomSource): SessionPlan {
  const mode = random() < TTY_SHARE ? 'tty' : 'headless'
  const count = 1 + Math.floor(random() ** 2 * 4)
  const messages = Array.from({ length: count }, (_, i) => messageOf(`${task}/${i + 1}`, mode, random))
  const pauses = messages.slice(1).map(() => between(random, 0, 1_200))
  const stopAfter = random() < STOP_SHARE ? between(random, 100, 2_500) : null
  const isResumedAfterStop = random() < 0.7
  const afterthought = random() < 0.15 ? messageOf(`${task}/after`, mode, random) : null
  return { task, mode, messages, pauses, stopAfter, isResumedAfterStop, afterthought }
}

/** Most work is slow and quiet; some writes as fast as it can; some has faults of its own. */
function messageOf(label: string, mode: SessionPlan['mode'], random: RandomSource): string {
  const isFast = mode === 'headless' && random() < 0.2
  const steps = 2 + Math.floor(random() * 6)
  const words = [
    `message ${label}:`,
    `steps=${steps}`,
    `lines=${isFast ? 300 : 1 + Math.floor(random() * 6)}`,
    `size=${isFast ? 160 : 60 + Math.floor(random() * 100)}`,
    `delay=${Math.floor(between(random, 30, 260))}`,
  ]
  if (random() < 0.12) words.push(`crash=${1 + Math.floor(random() * steps)}`)
  if (random() < 0.35) words.push('tool=1')
  if (random() < 0.15) words.push('litter=1')
  if (random() < 0.1) words.push('ask=1')
  if (mode === 'headless' && random() < 0.1) words.push('poison=1')
  return words.join(' ')
}
