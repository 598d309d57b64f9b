import type { Duration, Instant } from '../../lib/time.ts'
import { specsById, isDescendant, type SpecsById, ancestorsOf, type StartRequest } from './may-start-session.ts'
import { needsPerson, type Session, type Spec } from '../session/session-state.ts'
import {
  addUsage,
  chargedUsage,
  type ChildrenCharge,
  type UsageLimits,
  NO_USAGE,
  totalUsage,
  type Usage,
} from '../session/usage.ts'

/** The limits that a session may give to sessions that it starts; null for no limit. */
export interface RemainingLimits {
  readonly maxTime: Duration | null
  readonly memory: number | null
  readonly maxOutput?: number | null
  readonly limits: UsageLimits
  /** The names of live sessions that have a part reserved. */
  readonly reservedFor?: readonly string[]
}

/**
 * Returns the rest of a session's limits, and of the limits of its ancestors. `writtenBy`: the bytes of output that a
 * session has written.
 */
export function remainingLimits(
  caller: Session,
  { sessions, now, writtenBy }: { sessions: readonly Session[]; now: Instant; writtenBy: (session: Session) => number },
): RemainingLimits {
  const { maxTime, memory } = caller.spec.supervision
  const known = specsById(sessions)
  const line = ancestorsOf(caller.spec, known).map(({ id }) => id)
  const owners = sessions.filter(({ spec }) => line.includes(spec.id))
  const left = owners.map(owner => remainingUsage(owner, descendantsOf(owner, sessions, known)))
  const output = owners.map(owner => outputLeftTo(owner, descendantsOf(owner, sessions, known), writtenBy))
  return {
    maxTime: maxTime === null ? null : Math.max(0, maxTime - usedTime(caller, now)),
    memory,
    maxOutput: minOfAll(output),
    limits: {
      usd: minOfAll(left.map(({ usd }) => usd)),
      tokens: minOfAll(left.map(({ tokens }) => tokens)),
      turns: minOfAll(left.map(({ turns }) => turns)),
    },
    reservedFor: descendantsOf(caller, sessions, known)
      .filter(hasReservedBudget)
      .map(({ spec }) => spec.name),
  }
}

/**
 * A live descendant may still write as much as its own limit allows: the sum reserves that much for it and its own
 * descendants.
 */
function outputLeftTo(
  owner: Session,
  descendants: readonly Session[],
  writtenBy: (session: Session) => number,
): number | null {
  const { maxOutput: limit = null } = owner.spec.supervision
  if (limit === null) return null
  const childrenOf = ({ spec: { id } }: Session): Session[] =>
    descendants.filter(({ spec }) => (spec.startedBy ?? spec.parent?.id) === id)
  const sum = (sessions: readonly Session[], of: (session: Session) => number): number =>
    sessions.reduce((total, session) => total + of(session), 0)
  const written = (session: Session): number => writtenBy(session) + sum(childrenOf(session), written)
  const used = (session: Session): number => {
    const own = session.phase.name === 'ended' ? null : (session.spec.supervision.maxOutput ?? null)
    return own === null ? writtenBy(session) + sum(childrenOf(session), used) : Math.max(own, written(session))
  }
  return Math.max(0, limit - writtenBy(owner) - sum(childrenOf(owner), used))
}

/** Returns the charge of a session's descendants against its limits. */
export function chargeOf(owner: Session, sessions: readonly Session[]): ChildrenCharge {
  const counted = descendantsOf(owner, sessions, specsById(sessions)).filter(hasOwnBudget)
  const spent = counted.map(({ spending }) => totalUsage(spending)).reduce(addUsage, NO_USAGE)
  return { spent, reserved: counted.map(one => reservedFor(one, sessions)).reduce(addUsage, NO_USAGE) }
}

/**
 * A live descendant may still use the rest of its budget: the charge reserves that much for it, beside the parts of its
 * own descendants. The reservation counts tokens as input tokens.
 */
function reservedFor(session: Session, sessions: readonly Session[]): Usage {
  if (!hasReservedBudget(session)) return NO_USAGE
  const { limits } = session.spec.supervision
  const own = chargedUsage({ ...session.spending, children: chargeOf(session, sessions) })
  const rest = (limit: number | null, used: number): number => (limit === null ? 0 : Math.max(0, limit - used))
  return {
    ...NO_USAGE,
    input: rest(limits.tokens, own.input + own.output),
    usd: limits.usd === null ? null : rest(limits.usd, own.usd ?? 0),
    turns: rest(limits.turns, own.turns),
  }
}

function descendantsOf({ spec }: Session, sessions: readonly Session[], known: SpecsById): readonly Session[] {
  return sessions.filter(other => other.spec.id !== spec.id && isDescendant(other.spec, spec.id, known))
}

/** A command has no usage; a loop counts the usage of its workers. */
function hasOwnBudget({ spec }: Session): boolean {
  return spec.agent !== 'command' && spec.parent === undefined
}

function hasReservedBudget(session: Session): boolean {
  return hasOwnBudget(session) && session.phase.name !== 'ended'
}

function remainingUsage(owner: Session, descendants: readonly Session[]): UsageLimits {
  const { limits } = owner.spec.supervision
  const charged = chargedUsage({ ...owner.spending, children: chargeOf(owner, [owner, ...descendants]) })
  const left = (limit: number | null, used: number): number | null =>
    limit === null ? null : Math.max(0, limit - used)
  const usd = left(limits.usd, charged.usd ?? 0)
  return {
    // Less than a hundredth of a cent counts as nothing.
    usd: usd === null ? null : Math.floor(usd * 10_000 + 1e-6) / 10_000,
    tokens: left(limits.tokens, charged.input + charged.output),
    turns: left(limits.turns, charged.turns),
  }
}

function minOfAll(amounts: readonly (number | null)[]): number | null {
  return amounts.reduce((a, b) => minLimit(a, b), null)
}

/** Time in which the session waits for a person does not count. */
function usedTime(session: Session, now: Instant): Duration {
  return Math.max(0, stoppedAt(session, now) - session.clockSince)
}

function stoppedAt(session: Session, now: Instant): Instant {
  if (needsPerson(session)) return session.phase.since
  return session.phase.name === 'ended' ? session.phase.at : now
}

/** Returns the name of the first exhausted limit, or null if something is left of each. */
export function findExhaustedLimit({
  maxTime,
  maxOutput,
  limits: { usd, tokens, turns },
}: RemainingLimits): string | null {
  const left: readonly (readonly [string, number | null | undefined])[] = [
    ['time', maxTime],
    ['budget', usd],
    ['tokens', tokens],
    ['turns', turns],
    ['output', maxOutput],
  ]
  return left.find(([, amount]) => amount === 0)?.[0] ?? null
}

/** Returns the reason why a session may not reset the limits of its descendant, or null if it may. */
export function reasonNotToReset({ supervision }: Spec, left: RemainingLimits): string | null {
  const pairs: readonly (readonly [string, number | null | undefined, number | null | undefined])[] = [
    ['time', supervision.maxTime, left.maxTime],
    ['budget', supervision.limits.usd, left.limits.usd],
    ['tokens', supervision.limits.tokens, left.limits.tokens],
    ['turns', supervision.limits.turns, left.limits.turns],
  ]
  const over = pairs.find(([, own, most]) => most !== null && most !== undefined && (own ?? Infinity) > most)
  return over === undefined ? null : `its ${over[0]} would start again from zero, and is more than the rest`
}

/**
 * Returns the request within the limits of the session that makes it. A session that asks for no budget of its own gets
 * half of the rest, so that its starter can continue beside it. A command has no usage and needs no reservation.
 */
export function clampToLimits<T extends StartRequest>(wanted: T, own: RemainingLimits): T {
  const { supervision } = wanted
  const maxTime = minLimit(supervision.maxTime, own.maxTime)
  const memory = minLimit(supervision.memory, own.memory)
  const maxOutput = outputWithin(supervision.maxOutput, own.maxOutput ?? null)
  const { limits = {} } = supervision
  const share = wanted.agent === 'command' ? minLimit : shareOf
  const usd = share(limits.usd, own.limits.usd, USD_STEP)
  const tokens = share(limits.tokens, own.limits.tokens)
  const turns = share(limits.turns, own.limits.turns)
  return {
    ...wanted,
    supervision: {
      ...supervision,
      maxTime,
      ...(memory !== null && { memory }),
      ...(maxOutput !== null && { maxOutput }),
      limits: { ...(usd !== null && { usd }), ...(tokens !== null && { tokens }), ...(turns !== null && { turns }) },
    },
  }
}

function minLimit(wanted: number | null | undefined, own: number | null): number | null {
  if (wanted === undefined || wanted === null) return own
  return own === null ? wanted : Math.min(wanted, own)
}

/** The smallest part of a dollar that a session can give away. */
const USD_STEP = 0.0001

function shareOf(wanted: number | null | undefined, own: number | null, step = 1): number | null {
  if (own === null || (wanted !== undefined && wanted !== null)) return minLimit(wanted, own)
  return Math.max(step, Math.floor(own / 2 / step) * step)
}

/** Every request names an output limit, mostly the default: a request for all that is left gets half of it. */
function outputWithin(wanted: number | null | undefined, own: number | null): number | null {
  return own !== null && (wanted ?? own) >= own ? Math.max(1, Math.floor(own / 2)) : minLimit(wanted, own)
}
