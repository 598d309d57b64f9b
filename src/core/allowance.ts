import type { Duration, Instant } from '../lib/time.ts'
import { byId, descends, type Known, lineOf, type Wanted } from './rights.ts'
import type { Session, Spec } from './session.ts'
import { chargedTo, type Limits, spentBy, type Spending } from './spending.ts'

/** What a session may give to those that it starts; null for no limit. */
export interface Allowance {
  readonly maxTime: Duration | null
  readonly memory: number | null
  readonly maxOutput?: number | null
  readonly limits: Limits
  /** The names of live sessions for which a part is reserved. */
  readonly reservedFor?: readonly string[]
}

/**
 * What is left of a session's limits, and of the limits of those who started it. `written`: bytes of output that it and its
 * descendants have written.
 */
export function allowanceOf(
  caller: Session,
  { sessions, now, written }: { sessions: readonly Session[]; now: Instant; written: number },
): Allowance {
  const { maxTime, memory, maxOutput = null } = caller.spec
  const known = byId(sessions)
  const line = lineOf(caller.spec, known).map(({ id }) => id)
  const owners = sessions.filter(({ spec }) => line.includes(spec.id))
  const left = owners.map(owner => leftTo(owner, descendantsOf(owner, sessions, known)))
  return {
    maxTime: maxTime === null ? null : Math.max(0, maxTime - timeUsedBy(caller, now)),
    memory,
    maxOutput: maxOutput === null ? null : Math.max(0, maxOutput - written),
    limits: {
      usd: leastOf(left.map(({ usd }) => usd)),
      tokens: leastOf(left.map(({ tokens }) => tokens)),
      turns: leastOf(left.map(({ turns }) => turns)),
    },
    reservedFor: descendantsOf(caller, sessions, known)
      .filter(isSpender)
      .map(({ spec }) => spec.name),
  }
}

function descendantsOf({ spec }: Session, sessions: readonly Session[], known: Known): readonly Session[] {
  return sessions.filter(other => other.spec.id !== spec.id && descends(other.spec, spec.id, known))
}

/** A command spends nothing; a loop counts those who work for it. */
function isCounted({ spec }: Session): boolean {
  return spec.agent !== 'command' && spec.parent === undefined
}

function isSpender(session: Session): boolean {
  return isCounted(session) && session.phase.name !== 'ended'
}

/** A live descendant may still use its whole budget: that much is reserved for it. An ended one counts with what it spent. */
function leftTo({ spec: { limits }, spending }: Session, descendants: readonly Session[]): Limits {
  const counted = descendants.filter(isCounted)
  const left = (limit: number | null, of: (spent: Spending) => number, own: keyof Limits): number | null => {
    if (limit === null) return null
    const used = counted.map(other => Math.max(of(spentBy(other.spending)), reservedBy(other, of, own)))
    return Math.max(0, limit - used.reduce((a, b) => a + b, of(chargedTo(spending))))
  }
  const usd = left(limits.usd, spent => spent.usd ?? 0, 'usd')
  return {
    // Below a hundredth of a cent nothing is left.
    usd: usd === null ? null : Math.floor(usd * 10_000) / 10_000,
    tokens: left(limits.tokens, spent => spent.input + spent.output, 'tokens'),
    turns: left(limits.turns, spent => spent.turns, 'turns'),
  }
}

function reservedBy(session: Session, of: (spent: Spending) => number, own: keyof Limits): number {
  const { spec, spending } = session
  const limit = spec.limits[own]
  return limit === null || !isSpender(session) ? 0 : of(spending.waived) + limit
}

function leastOf(amounts: readonly (number | null)[]): number | null {
  return amounts.reduce((a, b) => least(a, b), null)
}

/** A person who is waited for costs no time. */
function timeUsedBy({ phase, clockSince }: Session, now: Instant): Duration {
  const until = phase.name === 'blocked' || phase.name === 'ended' ? sinceOf(phase) : now
  return Math.max(0, until - clockSince)
}

function sinceOf(phase: Extract<Session['phase'], { name: 'blocked' | 'ended' }>): Instant {
  return phase.name === 'blocked' ? phase.since : phase.at
}

/** Which limit leaves nothing to give, in words; null when there is something left of each. */
export function exhausted({ maxTime, maxOutput, limits: { usd, tokens, turns } }: Allowance): string | null {
  const left: readonly (readonly [string, number | null | undefined])[] = [
    ['time', maxTime],
    ['budget', usd],
    ['tokens', tokens],
    ['turns', turns],
    ['output', maxOutput],
  ]
  return left.find(([, amount]) => amount === 0)?.[0] ?? null
}

/** Why a session may not have one of its own counted anew; null when it may. */
export function objectionToRenewal(target: Spec, left: Allowance): string | null {
  const pairs: readonly (readonly [string, number | null | undefined, number | null | undefined])[] = [
    ['time', target.maxTime, left.maxTime],
    ['budget', target.limits.usd, left.limits.usd],
    ['tokens', target.limits.tokens, left.limits.tokens],
    ['turns', target.limits.turns, left.limits.turns],
  ]
  const over = pairs.find(([, own, most]) => most !== null && most !== undefined && (own ?? Infinity) > most)
  return over === undefined ? null : `its ${over[0]} would be counted anew, and is more than what is left`
}

/** The same request within the limits of the session that has it started. */
export function withinLimits<T extends Wanted>(wanted: T, own: Allowance): T {
  const maxTime = least(wanted.maxTime, own.maxTime)
  const memory = least(wanted.memory, own.memory)
  const maxOutput = least(wanted.maxOutput, own.maxOutput ?? null)
  const { limits = {} } = wanted
  const usd = least(limits.usd, own.limits.usd)
  const tokens = least(limits.tokens, own.limits.tokens)
  const turns = least(limits.turns, own.limits.turns)
  return {
    ...wanted,
    maxTime,
    ...(memory !== null && { memory }),
    ...(maxOutput !== null && { maxOutput }),
    limits: { ...(usd !== null && { usd }), ...(tokens !== null && { tokens }), ...(turns !== null && { turns }) },
  }
}

function least(wanted: number | null | undefined, own: number | null): number | null {
  if (wanted === undefined || wanted === null) return own
  return own === null ? wanted : Math.min(wanted, own)
}
