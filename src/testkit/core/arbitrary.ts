import * as fc from 'fast-check'
import {
  dueOf,
  type Exit,
  type LastWord,
  type Life,
  type Phase,
  type PhaseName,
  type Session,
  type Spec,
} from '../../core/session.ts'
import { SIGNAL_TYPES, type Signal, type SignalType } from '../../core/signals.ts'

export const NOW = 1_000_000

const exits: fc.Arbitrary<Exit> = fc.oneof(
  fc.record({ kind: fc.constant('code' as const), code: fc.constantFrom(0, 0, 1, 127, 137) }),
  fc.record({ kind: fc.constant('signal' as const), signal: fc.constantFrom('SIGKILL', 'SIGINT') }),
  fc.record({ kind: fc.constant('vanished' as const), evidence: fc.constant('pid 7 is gone') }),
)

const words: fc.Arbitrary<LastWord> = fc.record({ ok: fc.boolean(), text: fc.constant('so be it') })

const LIFE: Life = { pid: 7, birth: '123', boot: 'b', startedAt: NOW }

export const specs: fc.Arbitrary<Spec> = fc.record({
  id: fc.constant('s1'),
  name: fc.constant('talker-task'),
  task: fc.constant('task'),
  agent: fc.constant('talker'),
  mode: fc.constantFrom('headless' as const, 'tty' as const),
  proof: fc.constantFrom('exit-code' as const, 'end-event' as const, 'end-event' as const, 'end-event' as const),
  cwd: fc.constant('/'),
  argv: fc.constant(['talker']),
  title: fc.constant('a task'),
  maxTime: fc.option(fc.integer({ min: 1, max: 5_000_000 })),
  restart: fc.record({
    limit: fc.constantFrom(0, 1, 2, 3, 4, 4, 4),
    window: fc.integer({ min: 1, max: 1_000_000 }),
    firstDelay: fc.integer({ min: 0, max: 1_000 }),
    nextDelay: fc.integer({ min: 0, max: 5_000 }),
    maxDelay: fc.integer({ min: 0, max: 64_000 }),
  }),
  createdAt: fc.constant(NOW),
})

/** Any signal at all, of this attempt or one beside it, a while after `at`. */
export function signalAt(at: number, attempt: number, type: SignalType): fc.Arbitrary<Signal> {
  const one = (fields: object): fc.Arbitrary<Signal> => fc.constant({ at, attempt, type, ...fields } as Signal)
  const chance = 0.5
  switch (type) {
    case 'attempt.started':
      return one({ life: LIFE })
    case 'launch.failed':
      return one({ reason: 'no pty', chance })
    case 'agent.threaded':
      return fc.constantFrom('t-1', 't-2').chain(thread => one({ thread }))
    case 'agent.asked':
      return one({ question: 'may I?' })
    case 'agent.finished':
      return words.chain(word => one({ word }))
    case 'process.died':
      return exits.chain(exit => one({ exit, chance }))
    case 'agent.answered':
    case 'tree.gone':
      return one({})
    case 'user.stop':
    case 'clock.due':
      return fc.constant({ at, type })
  }
}

/** A choice of what happens next, made into a signal once it is known where the session stands. */
export interface Whim {
  /** `next` is what would most likely be seen: it starts, it dies, its tree goes, the alarm rings. */
  readonly type: SignalType | 'next'
  readonly pause: number
  /** Mostly the current attempt; sometimes the one before or after. */
  readonly offset: number
  readonly exit: Exit
  readonly word: LastWord
  readonly thread: string
}

export const whims: fc.Arbitrary<Whim> = fc.record({
  type: fc.oneof(
    { arbitrary: fc.constant('next' as const), weight: 20 },
    { arbitrary: fc.constantFrom(...SIGNAL_TYPES.filter(type => type !== 'user.stop')), weight: 20 },
    { arbitrary: fc.constant<SignalType>('user.stop'), weight: 1 },
  ),
  pause: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100_000 })),
  offset: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, -1, 1),
  exit: exits,
  word: words,
  thread: fc.constantFrom('t-1', 't-2'),
})

export function signalFrom(whim: Whim, at: number, session: Session): Signal {
  if (whim.type === 'next') {
    const isResting = session.phase.name === 'resting'
    const type = NEXT[session.phase.name]
    return signalFrom({ ...whim, type, offset: 0 }, isResting ? Math.max(at, dueOf(session) ?? at) : at, session)
  }
  const { type, exit, word, thread } = whim
  const attempt = session.attempt + whim.offset
  const fields = { life: LIFE, reason: 'no pty', question: 'may I?', exit, word, thread, chance: 0.5 }
  return type === 'user.stop' || type === 'clock.due' ? { at, type } : { at, attempt, type, ...fields }
}

const NEXT: { readonly [P in PhaseName]: SignalType } = {
  starting: 'attempt.started',
  running: 'process.died',
  blocked: 'agent.answered',
  stopping: 'tree.gone',
  resting: 'clock.due',
  ended: 'clock.due',
}

export const PHASES: { readonly [P in PhaseName]: Extract<Phase, { name: P }> } = {
  starting: { name: 'starting', since: NOW },
  running: { name: 'running', since: NOW },
  resting: { name: 'resting', until: NOW + 100, reason: 'it crashed' },
  blocked: { name: 'blocked', since: NOW, question: 'may I?' },
  stopping: {
    name: 'stopping',
    step: 'sweep',
    due: NOW + 100,
    next: { kind: 'rest', until: NOW + 200, reason: 'it crashed' },
  },
  ended: { name: 'ended', at: NOW, outcome: 'done', reason: 'it is done' },
}
