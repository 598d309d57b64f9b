import * as fc from 'fast-check'
import { type Checkpoint, DEFAULT_CHECKPOINT_OPTIONS } from '../../src/core/checkpoint/checkpoint.ts'
import type { ThreadId } from '../../src/core/session/conversation.ts'
import type { FailureKind } from '../../src/core/session/failure.ts'
import type { Exit, TurnResult, ProcessIdentity } from '../../src/core/session/attempt.ts'
import {
  sessionDueAt,
  type Phase,
  type PhaseName,
  type Session,
  type Spec,
} from '../../src/core/session/session-state.ts'
import type { Supervision } from '../../src/core/session/supervision-options.ts'
import { NO_USAGE } from '../../src/core/session/usage.ts'
import type { InspectedWork } from '../../src/core/policy/verify.ts'
import { type AgentUpdate, SIGNAL_TYPES, type Signal, type SignalType } from '../../src/core/session/signals.ts'
import { testSessionId, testThreadId } from './ids.ts'

export const NOW = 1_000_000

const exits: fc.Arbitrary<Exit> = fc.oneof(
  fc.record({ kind: fc.constant('code' as const), code: fc.constantFrom(0, 0, 1, 127, 137) }),
  fc.record({ kind: fc.constant('signal' as const), signal: fc.constantFrom('SIGKILL', 'SIGINT') }),
  fc.record({ kind: fc.constant('vanished' as const), evidence: fc.constant('pid 7 is gone') }),
  fc.constant({ kind: 'vanished', evidence: 'the machine was restarted', isReboot: true } as const),
)

const KINDS: readonly FailureKind[] = [
  'rate-limit',
  'overloaded',
  'network',
  'login',
  'context',
  'thread-lost',
  'untrusted',
  'denied',
  'empty',
  'budget',
  'setup',
  'other',
]

const text = 'so be it'
const results: fc.Arbitrary<TurnResult> = fc.oneof(
  fc.constant({ ok: true, text } as const),
  fc.constantFrom(...KINDS).map(kind => {
    const resetAt = kind === 'rate-limit' ? NOW + 10_000 : null
    return { ok: false, text, failure: { kind, text, resetAt, remedy: null } } as const
  }),
)

const updates: fc.Arbitrary<AgentUpdate> = fc.constantFrom<AgentUpdate>(
  { type: 'began' },
  { type: 'tool-started', id: 'c1', tool: 'shell', summary: 'ls' },
  { type: 'tool-ended', id: 'c1' },
  { type: 'edited', path: 'a' },
  { type: 'spent', scope: 'step', spending: { input: 10, cached: 0, output: 10, usd: 1, turns: 1 } },
  { type: 'spent', scope: 'thread', spending: { input: 100, cached: 0, output: 10, usd: null, turns: 2 } },
  { type: 'retrying', failure: { kind: 'overloaded', text, resetAt: null, remedy: null } },
  { type: 'unknown', what: 'system/foo' },
  { type: 'planned', tasks: [{ id: '1', title: 'first', state: 'doing' }] },
  { type: 'planned', tasks: [{ id: '2', title: 'second', state: 'done' }] },
  { type: 'replanned', tasks: [{ id: '1', title: null, state: 'done' }] },
  { type: 'replanned', tasks: [{ id: '3', title: 'third', state: null }] },
  { type: 'replanned', tasks: [{ id: '2', title: null, state: 'dropped' }] },
)

const CHECKPOINT: Checkpoint = {
  number: 1,
  commit: 'c0ffee',
  at: NOW,
  trigger: 'edit',
  attempt: 1,
  head: null,
  change: { files: 1, added: 2, removed: 0 },
  leftOut: [],
}

const PROCESS: ProcessIdentity = { pid: 7, birth: '123', boot: 'b', startedAt: NOW }

const plainSupervisions = fc.record({
  limits: fc.record({ usd: fc.constantFrom(null, null, 3), tokens: fc.constant(null), turns: fc.constant(null) }),
  maxTime: fc.option(fc.integer({ min: 1, max: 5_000_000 })),
  restart: fc.record({
    on: fc.constantFrom('crash' as const, 'crash' as const, 'failure' as const),
    limit: fc.constantFrom(0, 1, 2, 3, 4, 4, 4),
    window: fc.integer({ min: 1, max: 1_000_000 }),
    firstDelay: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_000 })),
    nextDelay: fc.integer({ min: 0, max: 5_000 }),
    maxDelay: fc.integer({ min: 0, max: 64_000 }),
  }),
  patience: fc.record({
    silence: fc.constant(null),
    limit: fc.constantFrom(null, 0, 5_000, 1_000_000),
    absence: fc.constantFrom(null, 50_000),
  }),
  memory: fc.constant(null),
  saving: fc.constantFrom({ ...DEFAULT_CHECKPOINT_OPTIONS }, { ...DEFAULT_CHECKPOINT_OPTIONS, push: 'origin' }),
  alertAfter: fc.constantFrom(0, 1, 3),
})

const supervisions: fc.Arbitrary<Supervision> = fc
  .tuple(
    plainSupervisions,
    fc.constantFrom(undefined, undefined, { git: true, check: null }),
    fc.constantFrom(undefined, undefined, 0, 30_000),
  )
  .map(([supervision, verify, stopGrace]) => ({
    ...supervision,
    ...(verify !== undefined && { verify }),
    ...(stopGrace !== undefined && { stopGrace }),
  }))

export const specs: fc.Arbitrary<Spec> = fc.record({
  id: fc.constant(testSessionId('s1')),
  name: fc.constant('talker-task'),
  task: fc.constant('task'),
  agent: fc.constant('talker'),
  mode: fc.constantFrom('headless' as const, 'tty' as const),
  proof: fc.constantFrom('exit-code' as const, 'end-event' as const, 'end-event' as const, 'end-event' as const),
  cwd: fc.constant('/'),
  argv: fc.constant(['talker']),
  title: fc.constant('a task'),
  autonomy: fc.constant('full' as const),
  model: fc.constant(null),
  effort: fc.constant(null),
  supervision: supervisions,
  createdAt: fc.constant(NOW),
})

const CHANGED = { commits: [], commitCount: 1, files: ['a'], uncommitted: 0 }
const SHOWN: readonly InspectedWork[] = [
  { work: { ...CHANGED, change: { files: 1, added: 1, removed: 0 } }, failures: [], checked: null },
  { work: { ...CHANGED, change: { files: 0, added: 0, removed: 0 } }, failures: [], checked: null },
  { work: null, failures: [], checked: { kind: 'failed', line: 'npm test', how: 'npm test: exit code 1' } },
]

/** Generates any signal, of this attempt or one beside it, some time after `at`. */
export function signalAt(at: number, attempt: number, type: SignalType): fc.Arbitrary<Signal> {
  const one = (fields: object): fc.Arbitrary<Signal> => fc.constant({ at, attempt, type, ...fields } as Signal)
  const chance = 0.5
  switch (type) {
    case 'attempt.started':
      return one({ process: PROCESS })
    case 'launch.failed':
      return one({ reason: 'no pty', chance })
    case 'launch.impossible':
      return one({ question: 'where is it?' })
    case 'agent.hung':
    case 'memory.exceeded':
    case 'output.exceeded':
      return one({ evidence: 'no sign of life', chance })
    case 'agent.threaded':
      return fc.constantFrom(testThreadId('t-1'), testThreadId('t-2')).chain(thread => one({ thread }))
    case 'agent.asked':
      return one({ question: 'may I?' })
    case 'agent.told':
      return updates.chain(told => one({ update: told }))
    case 'agent.finished':
      return results.chain(result => one({ result }))
    case 'thread.surveyed':
      return fc.boolean().chain(is => one({ thread: testThreadId('t-1'), messages: 1, hasInput: is, isFinal: is }))
    case 'process.died':
      return fc
        .tuple(exits, fc.boolean())
        .chain(([exit, is]) => one({ exit, chance, ...(is && { emptyTree: NO_SURVEY }) }))
    case 'tree.gone':
    case 'work.shown':
      return fc.constantFrom(...SHOWN).chain(shown => one({ shown }))
    case 'agent.answered':
      return one({})
    case 'user.message':
      return fc.constantFrom('k1', 'k2').map(key => ({ at, type, key, summary: 'and this' }))
    case 'checkpoint.failed':
      return fc.boolean().map(isFinal => ({ at, type, reason: 'no repository', isFinal }))
    case 'user.hold':
    case 'checkpoint.unpushed':
      return fc.constant({ at, type, reason: 'held' })
    case 'checkpoint.saved':
      return fc.constant({ at, type, checkpoint: CHECKPOINT })
    case 'checkpoint.pushed':
      return fc.constant({ at, type, number: 1 })
    case 'trouble.noted':
      return fc.constant({ at, type, note: 'bd does not answer' })
    case 'children.charged':
      return fc.constant({ at, type, charge: { spent: NO_USAGE, reserved: NO_USAGE } })
    case 'user.tasks':
      return fc.constant({ at, type, tasks: [{ id: '1', title: 'first', state: 'done' }] })
    case 'user.amend':
      return fc.constant({ at, type, label: 'another' })
    case 'user.resume':
    case 'user.stop':
    case 'clock.due':
    case 'checkpoint.unneeded':
      return fc.constant({ at, type })
  }
}

/** A random choice that becomes a signal once the session's state is known. */
export interface RandomChoice {
  /** `next` is the most likely signal: the process starts, it dies, the sweep ends, a timer fires. */
  readonly type: SignalType | 'next'
  readonly pause: number
  /** Mostly the current attempt; sometimes the one before or after. */
  readonly offset: number
  readonly exit: Exit
  readonly result: TurnResult
  readonly thread: ThreadId
  readonly update: AgentUpdate
  readonly key: string
  readonly has: boolean
}

export const randomChoices: fc.Arbitrary<RandomChoice> = fc.record({
  type: fc.oneof(
    { arbitrary: fc.constant('next' as const), weight: 20 },
    { arbitrary: fc.constantFrom(...SIGNAL_TYPES.filter(type => !type.startsWith('user.'))), weight: 20 },
    { arbitrary: fc.constant<SignalType>('user.stop'), weight: 1 },
    {
      arbitrary: fc.constantFrom<SignalType>('user.message', 'user.resume', 'user.hold', 'user.tasks', 'user.amend'),
      weight: 3,
    },
  ),
  pause: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100_000 })),
  offset: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, -1, 1),
  exit: exits,
  result: results,
  update: updates,
  key: fc.constantFrom('k1', 'k2', 'k3', 'k4'),
  has: fc.boolean(),
  thread: fc.constantFrom(testThreadId('t-1'), testThreadId('t-2')),
})

const NO_SURVEY = { survey: null }

export function signalFrom(choice: RandomChoice, at: number, session: Session): Signal {
  if (choice.type === 'next') {
    const isResting = session.phase.name === 'resting'
    return signalFrom(
      { ...choice, type: NEXT[session.phase.name], offset: 0 },
      isResting ? Math.max(at, sessionDueAt(session) ?? at) : at,
      session,
    )
  }
  const { type, exit, result, thread, key, has } = choice
  if (type === 'user.message') return { at, type, key, summary: 'and this' }
  if (type === 'user.hold' || type === 'checkpoint.unpushed') return { at, type, reason: 'held' }
  if (type === 'checkpoint.failed') return { at, type, reason: 'no repository', isFinal: has }
  if (type === 'checkpoint.saved') return { at, type, checkpoint: CHECKPOINT }
  if (type === 'checkpoint.pushed') return { at, type, number: 1 }
  if (type === 'trouble.noted') return { at, type, note: 'bd does not answer' }
  if (type === 'children.charged') return { at, type, charge: { spent: NO_USAGE, reserved: NO_USAGE } }
  if (type === 'user.tasks') return { at, type, tasks: [{ id: key, title: 'first', state: has ? 'done' : 'open' }] }
  if (type === 'user.amend') return { at, type, label: key }
  if (type === 'user.stop' || type === 'user.resume' || type === 'clock.due' || type === 'checkpoint.unneeded')
    return { at, type }
  const survey = { hasInput: has, isFinal: has, messages: session.thread.heard + 1 }
  const fields = {
    process: PROCESS,
    reason: 'no pty',
    question: 'may I?',
    exit,
    result,
    thread,
    update: choice.update,
    chance: 0.5,
    evidence: 'no sign of life',
    shown: SHOWN[has ? 0 : 1] as InspectedWork,
  }
  const left = has ? { emptyTree: NO_SURVEY } : {}
  return { at, attempt: session.attempt.number + choice.offset, type, ...fields, ...survey, ...left }
}

const NEXT: { readonly [P in PhaseName]: SignalType } = {
  starting: 'attempt.started',
  running: 'process.died',
  waiting: 'agent.answered',
  blocked: 'user.resume',
  stopping: 'tree.gone',
  verifying: 'work.shown',
  resting: 'clock.due',
  ended: 'clock.due',
}

export const PHASES: { readonly [P in PhaseName]: Extract<Phase, { name: P }> } = {
  starting: { name: 'starting', since: NOW },
  running: { name: 'running', since: NOW },
  resting: { name: 'resting', since: NOW, until: NOW + 100, reason: 'it crashed', trouble: 'crash', cause: 'crash' },
  waiting: { name: 'waiting', since: NOW, question: 'may I?', trouble: 'approval' },
  blocked: { name: 'blocked', since: NOW, question: 'log in, please', trouble: 'login' },
  stopping: {
    name: 'stopping',
    step: 'sweep',
    due: NOW + 100,
    next: { kind: 'rest', until: NOW + 200, reason: 'it crashed', trouble: 'crash', cause: 'crash', thread: 'same' },
  },
  verifying: {
    name: 'verifying',
    since: NOW,
    next: { kind: 'end', outcome: 'done', reason: 'it is done', trouble: null },
  },
  ended: { name: 'ended', at: NOW, outcome: 'done', reason: 'it is done', trouble: null },
}
