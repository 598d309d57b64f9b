import { withAttempt } from './attempt.ts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSize } from '../../../testkit/system/test-size.ts'
import {
  NOW,
  PHASES,
  signalAt,
  signalFrom,
  specs,
  type RandomChoice,
  randomChoices,
} from '../../../testkit/core/arbitrary.ts'
import { createSession } from './create.ts'
import { decide } from './decision-table.ts'
import type { Event } from './events.ts'
import type { Effect } from './decision.ts'
import { NO_WORK } from '../../../testkit/in-memory/work-inspector.ts'
import { DEFAULT_TIMINGS } from './supervisor-timings.ts'
import { isIdle, sessionDueAt, type PhaseName, type Session, type Spec } from './session-state.ts'
import { SIGNAL_TYPES, type Signal, type SignalOf } from './signals.ts'

interface Moment {
  readonly signal: Signal
  readonly before: Session
  readonly session: Session
  readonly events: readonly Event[]
  readonly effects: readonly Effect[]
}

/** Returns the history of a session under random signals. */
function live(spec: Spec, history: readonly RandomChoice[]): Moment[] {
  let { session } = createSession(spec, { hasPrompt: true })
  let at = NOW
  return history.map(choice => {
    at += choice.pause
    const before = session
    const signal = signalFrom(choice, at, before)
    at = signal.at
    const step = decide(before, signal, DEFAULT_TIMINGS)
    session = step.session
    return { ...step, signal, before }
  })
}

function forAnyHistory(check: (moments: readonly Moment[], spec: Spec) => void): void {
  const histories = fc.array(randomChoices, { maxLength: 60, size: 'max' })
  fc.assert(
    fc.property(specs, histories, (spec, history) => check(live(spec, history), spec)),
    { numRuns: testSize(120, 500) },
  )
}

test('every phase answers every signal', () => {
  const phases = Object.keys(PHASES) as PhaseName[]
  for (const [name, type] of phases.flatMap(phase => SIGNAL_TYPES.map(type => [phase, type] as const))) {
    fc.assert(
      fc.property(
        specs.chain(spec => fc.tuple(fc.constant(spec), signalAt(NOW + 50, 1, type))),
        ([spec, signal]) => {
          const session = { ...createSession(spec, { hasPrompt: true }).session, phase: PHASES[name] }
          const step = decide(session, signal, DEFAULT_TIMINGS)
          if (type !== 'user.amend') expect(step.session.spec).toBe(spec)
        },
      ),
      { numRuns: 10 },
    )
  }
})

test('decide launches each attempt once, and only when nothing of the previous one is left', () => {
  forAnyHistory(moments => {
    let launched = 1
    const gone = new Set<number>()
    for (const { signal, effects } of moments) {
      const isEmpty = signal.type === 'process.died' && signal.emptyTree !== undefined
      if (signal.type === 'tree.gone' || isEmpty) gone.add(signal.attempt)
      for (const effect of effects.filter(effect => effect.type === 'launch')) {
        expect(effect.attempt).toBe(++launched)
        expect(gone).toContain(launched - 1)
      }
    }
  })
})

test('an ended session changes only when its user writes to it, resumes or renames it; it still records checkpoints, tasks and charges of its children', () => {
  forAnyHistory(moments => {
    for (const { before, session, effects, signal } of moments.filter(({ before }) => before.phase.name === 'ended')) {
      if (['user.message', 'user.resume', 'user.amend'].includes(signal.type)) continue
      const { saved, tasks, notes, spending } = session
      expect({ ...before, saved, tasks, notes, spending }).toEqual(session)
      expect({ ...spending, children: undefined }).toEqual({ ...before.spending, children: undefined })
      expect(effects).toEqual([])
    }
  })
})

test('a session ends as done only with exit code 0 and, if its proof requires it, the agent’s own report', () => {
  forAnyHistory((moments, spec) => {
    const last = moments.at(-1)?.session
    if (last?.phase.name !== 'ended' || last.phase.outcome !== 'done') return
    const hung = 'oneshot ended its process, because it was no sign of life'
    if (!last.phase.reason.includes(hung)) expect(last.attempt.exit).toEqual({ kind: 'code', code: 0 })
    if (spec.proof === 'end-event') expect(last.attempt.result?.ok).toBe(true)
  })
})

test('a turn result that arrives after the exit it explains still counts', () => {
  const [any] = fc.sample(specs, 1) as [Spec]
  const { verify: _, ...supervision } = any.supervision
  const spec: Spec = { ...any, proof: 'end-event', supervision: { ...supervision, maxTime: null } }
  const decideAll = (...signals: Signal[]): Session =>
    signals.reduce(
      (session, signal) => decide(session, signal, DEFAULT_TIMINGS).session,
      createSession(spec, { hasPrompt: true }).session,
    )
  const at = NOW + 1
  const died: Signal = { at, type: 'process.died', attempt: 1, exit: { kind: 'code', code: 0 }, chance: 0 }
  const finished: Signal = { at, type: 'agent.finished', attempt: 1, result: { ok: true, text: 'it' } }
  const gone: Signal = { at, type: 'tree.gone', attempt: 1 }
  expect(decideAll(died, finished, gone).phase).toEqual(decideAll(finished, died, gone).phase)
  expect(decideAll(died, finished, gone).phase).toMatchObject({ name: 'ended', outcome: 'done' })
})

test('an exit that arrives while the verifier inspects the work of a hung agent is recorded, and changes nothing else', () => {
  const [any] = fc.sample(specs, 1) as [Spec]
  const supervision = { ...any.supervision, maxTime: null, verify: { git: true, check: null } }
  const spec: Spec = { ...any, proof: 'end-event', supervision }
  const { session: created } = createSession(spec, { hasPrompt: true })
  const next = { kind: 'end', outcome: 'done', reason: 'it hung after its turn', trouble: null } as const
  const session: Session = { ...created, phase: { name: 'verifying', since: NOW, next } }
  const exit = { kind: 'signal', signal: 'SIGKILL' } as const
  const died: Signal = { at: NOW + 1, type: 'process.died', attempt: 1, exit, chance: 0 }
  const decided = decide(session, died, DEFAULT_TIMINGS)
  expect(decided).toEqual({
    session: withAttempt(session, { exit }),
    events: [{ at: NOW + 1, type: 'attempt.ended', attempt: 1, exit }],
    effects: [],
  })
})

test('after a stop a session launches nothing, unless its user asks again', () => {
  forAnyHistory(moments => {
    let isStopped = false
    for (const { signal, effects } of moments) {
      if (signal.type === 'user.stop') isStopped = true
      if (signal.type === 'user.message' || signal.type === 'user.resume') isStopped = false
      if (isStopped) expect(effects.filter(effect => effect.type === 'launch')).toEqual([])
    }
  })
})

test('a session loses no message, repeats none that the agent has read, and delivers each only after the agent has read those before it', () => {
  forAnyHistory(moments => {
    for (const { before, session, effects, signal } of moments) {
      for (const { key } of before.messages) expect(session.messages.map(message => message.key)).toContain(key)
      if (signal.type === 'user.message')
        expect(session.messages.filter(({ key }) => key === signal.key)).toHaveLength(1)
      const { input } = session.attempt
      if (!effects.some(effect => effect.type === 'launch') || input?.kind !== 'message') continue
      expect(session.messages.find(message => message.confirmedAt === null)?.id).toBe(input.message)
    }
  })
})

test('a turn that was interrupted after the agent read its message continues before the next message', () => {
  forAnyHistory(moments => {
    for (const { before, session, effects, signal } of moments) {
      const isLaunched = effects.some(effect => effect.type === 'launch')
      const isAtOnce =
        signal.type === 'tree.gone' && before.phase.name === 'stopping' && before.phase.next.kind === 'rest'
      const isRestOver = signal.type === 'clock.due' || isAtOnce
      const isBrokenOff = before.attempt.input?.isConfirmed === true && !before.attempt.isTurnOver && isRestOver
      if (isLaunched && isBrokenOff) expect(session.attempt.input?.kind).not.toBe('message')
    }
  })
})

test('a session does not end as done while a message waits', () => {
  forAnyHistory((moments, { proof, supervision: { limits } }) => {
    for (const { session } of moments) {
      if (session.phase.name !== 'ended' || session.phase.outcome !== 'done' || proof === 'exit-code') continue
      if (limits.usd === null && session.wanted === 'run')
        expect(session.messages.every(message => message.confirmedAt !== null)).toBe(true)
    }
  })
})

test('a stopped session ends if its processes end and its alarms ring', () => {
  const histories = fc.array(randomChoices, { maxLength: 30 })
  fc.assert(
    fc.property(specs, histories, (spec, history) => {
      const moments = live(spec, history)
      const { session, at } = endFairly(
        moments.at(-1)?.session ?? createSession(spec, { hasPrompt: true }).session,
        moments.at(-1)?.signal.at ?? NOW,
      )
      expect(session.phase.name).toBe('ended')
      expect(at).toBeLessThanOrEqual((moments.at(-1)?.signal.at ?? NOW) + 60_000)
    }),
  )
})

/** Ends a session whose processes never die by themselves: only a kill or a sweep ends them. */
function endFairly(begun: Session, since: number): { session: Session; at: number } {
  let session = begun
  let at = since
  const happen = (signal: Signal): void => {
    const step = decide(session, signal, DEFAULT_TIMINGS)
    session = step.session
    const isSwept = step.effects.some(effect => effect.type === 'sweep' || effect.type === 'kill')
    const { number: attempt } = session.attempt
    if (isSwept) happen({ at, type: 'tree.gone', attempt })
    else if (session.phase.name === 'verifying') happen({ at, type: 'work.shown', attempt, shown: NO_WORK })
  }
  happen({ at, type: 'user.stop' })
  for (let due = sessionDueAt(session); due !== null; due = sessionDueAt(session)) {
    at = Math.max(at, due)
    happen({ at, type: 'clock.due' })
  }
  return { session, at }
}

test('restarts never exceed the rate that the policy allows', () => {
  forAnyHistory((moments, { supervision: { restart } }) => {
    for (const { session, before } of moments) {
      if (session.restartCount === before.restartCount) continue
      const latest = session.restarts.at(-1) as number
      const counted = session.restarts.filter(at => at > session.forgivenAt && at > latest - restart.window)
      expect(counted.length).toBeLessThanOrEqual(restart.limit)
    }
  })
})

test('a session gives up only after it has used all allowed restarts', () => {
  forAnyHistory((moments, { supervision: { restart } }) => {
    const last = moments.find(({ before, session }) => before.phase.name !== 'stopping' && isGivingUp(session))
    if (last === undefined) return
    const { restarts, forgivenAt } = last.before
    const recent = restarts.filter(at => at > last.signal.at - restart.window && at > forgivenAt)
    expect(recent.length).toBeGreaterThanOrEqual(restart.limit)
  })
})

function isGivingUp({ phase }: Session): boolean {
  return phase.name === 'stopping' && phase.next.kind === 'end' && phase.next.outcome === 'gave-up'
}

test('a signal of another attempt changes nothing', () => {
  forAnyHistory(moments => {
    for (const { signal, before, session, effects } of moments) {
      if (!('attempt' in signal) || signal.attempt === before.attempt.number) continue
      expect(session).toBe(before)
      expect(effects).toEqual([])
    }
  })
})

test('a session has an alarm unless it has ended, waits for a person, is being verified, or waits without a limit', () => {
  forAnyHistory((moments, { supervision: { maxTime } }) => {
    for (const { session } of moments) {
      const { name } = session.phase
      const isTimeless = ['ended', 'waiting', 'blocked', 'verifying'].includes(name)
      const waits = name === 'starting' || name === 'running'
      expect(sessionDueAt(session) === null).toBe(isTimeless || (waits && maxTime === null))
    }
  })
})

test('a session answers an alarm that rang: it is not due again at the same moment', () => {
  forAnyHistory(moments => {
    for (const { session, signal } of moments) {
      let now = session
      for (let rings = 0; (sessionDueAt(now) ?? Infinity) <= signal.at; rings++) {
        expect(rings).toBeLessThan(5)
        now = decide(now, { at: signal.at, type: 'clock.due' }, DEFAULT_TIMINGS).session
      }
    }
  })
})

test('effects target the current attempt, except the sweep of an attempt that ended by itself, which comes last', () => {
  forAnyHistory(moments => {
    for (const { signal, before, session, effects } of moments) {
      const isUnswept = signal.type === 'process.died' && session.attempt.number > before.attempt.number
      const current = isUnswept ? effects.slice(0, -1) : effects
      for (const effect of current) if ('attempt' in effect) expect(effect.attempt).toBe(session.attempt.number)
      if (isUnswept) expect(effects.at(-1)).toEqual({ type: 'sweep', attempt: before.attempt.number })
    }
  })
})

test('an attempt that left nothing behind leads to the same state as a swept one, without a wait', () => {
  const histories = fc.array(randomChoices, { maxLength: 20 })
  fc.assert(
    fc.property(specs, histories, randomChoices, (spec, history, choice) => {
      const before = live(spec, history).at(-1)?.session ?? createSession(spec, { hasPrompt: true }).session
      const died = signalFrom({ ...choice, type: 'process.died', offset: 0, has: false }, NOW * 2, before)
      const signal = died as SignalOf<'process.died'>
      const survey = { thread: choice.thread, messages: before.thread.heard + 1, hasInput: choice.has }
      const surveyed: Signal = {
        ...survey,
        at: signal.at,
        type: 'thread.surveyed',
        attempt: before.attempt.number,
        isFinal: true,
      }
      const gone: Signal = { at: signal.at, type: 'tree.gone', attempt: before.attempt.number }
      const ends = (...signals: Signal[]): { session: Session; launches: number; sweeps: number } => {
        let session = before
        const effects: Effect[] = []
        for (const seen of signals) {
          const step = decide(session, seen, DEFAULT_TIMINGS)
          session = step.session
          effects.push(...step.effects)
        }
        const count = (type: Effect['type']): number => effects.filter(effect => effect.type === type).length
        return { session, launches: count('launch'), sweeps: count('sweep') }
      }
      const unswept = { ...signal, emptyTree: { survey } }
      const { session, effects } = decide(before, unswept, DEFAULT_TIMINGS)
      const isQuick = effects.length > 1
      expect(effects.at(-1)?.type === 'sweep').toBe(effects.length > 0)
      if (isQuick) expect(ends(unswept)).toEqual(ends(signal, surveyed, gone))
      else expect(session).toEqual(ends(signal).session)
    }),
    { numRuns: testSize(120, 500) },
  )
})

test('a session never forgets its thread; it gives it up with an event', () => {
  forAnyHistory(moments => {
    for (const { before, session } of moments) {
      if (before.thread.id !== null && session.thread.id === null)
        expect(session.thread).toMatchObject({ number: before.thread.number + 1, needsDigest: true })
    }
  })
})

test('a session that rests or is blocked has no process', () => {
  forAnyHistory(moments => {
    for (const { session } of moments) if (isIdle(session)) expect(session.attempt.process).toBe(null)
  })
})

test('a held session launches an attempt only when its user asks', () => {
  forAnyHistory(moments => {
    for (const { before, effects, signal } of moments) {
      if (before.phase.name !== 'blocked' || signal.type === 'user.resume') continue
      expect(effects.filter(effect => effect.type === 'launch')).toEqual([])
    }
  })
})

test('an outage, a limit and a reboot use no restart', () => {
  forAnyHistory(moments => {
    for (const { before, session, events } of moments) {
      if (session.restartCount === before.restartCount) continue
      const begun = events.find(event => event.type === 'session.resting')
      expect(begun ?? before.phase).toMatchObject({ cause: 'crash' })
    }
  })
})

test('every session that does not end well states its problem kind', () => {
  forAnyHistory(moments => {
    for (const { session } of moments) {
      const { phase } = session
      if (phase.name === 'ended') expect(phase.trouble === null).toBe(phase.outcome === 'done')
      if (['resting', 'waiting', 'blocked'].includes(phase.name))
        expect(phase).toMatchObject({ trouble: expect.any(String) })
    }
  })
})

test('a session never waits for a limit longer than allowed', () => {
  forAnyHistory((moments, { supervision: { patience } }) => {
    for (const { before, session } of moments) {
      const { phase, limitedSince } = session
      if (phase.name !== 'resting' || phase.cause !== 'limit' || before.phase.name === 'resting') continue
      // Null: the model answered again while the supervisor swept its attempt.
      if (patience.limit === null || limitedSince === null) continue
      expect(phase.until - limitedSince).toBeLessThanOrEqual(patience.limit)
    }
  })
})
