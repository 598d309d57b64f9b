import type { Duration, Instant } from '../lib/time.ts'
import type { Session, Spec } from './session.ts'
import { add, chargedTo, type Limits, spentBy, type Spending } from './spending.ts'

/** From the most to the least. */
const AUTONOMY: readonly Spec['autonomy'][] = ['full', 'edits', 'ask']

/** What a session asks for when it has another one started. */
export interface Wanted {
  readonly agent: string
  readonly argv: readonly string[]
  readonly autonomy?: Spec['autonomy']
  readonly onExit?: readonly string[]
  readonly verify?: { readonly check: string | null }
  readonly saving?: { readonly push?: string | null }
  readonly beads?: boolean
  readonly maxTime: number | null
  readonly memory?: number
  readonly maxOutput?: number | null
  readonly limits?: { readonly usd?: number; readonly tokens?: number; readonly turns?: number }
}

/** Why a session may not have this started; null when it may. A session gives nobody more rights than it has itself. */
export function objectionTo(wanted: Wanted, caller: Spec): string | null {
  const { autonomy = 'full' } = wanted
  if (caller.autonomy === 'full') return null
  if (wanted.agent === 'command') return 'a command may do anything'
  if (AUTONOMY.indexOf(autonomy) < AUTONOMY.indexOf(caller.autonomy)) return `the autonomy ${autonomy} is more`
  if (wanted.argv.length > 0) return 'arguments for the program may give it more rights'
  if (wanted.onExit !== undefined) return 'a command that is run at the end may do anything'
  if ((wanted.verify?.check ?? null) !== null) return 'a check may do anything'
  if (wanted.beads === true && caller.beads !== true) return 'bd runs hooks of the project'
  return (wanted.saving?.push ?? null) === null ? null : 'pushing checkpoints sends something'
}

/** What a session may give to those that it starts; null for no limit. */
export interface Allowance {
  readonly maxTime: Duration | null
  readonly memory: number | null
  readonly maxOutput?: number | null
  readonly limits: Limits
}

/** One session and all that it has started: more of them would be a fork bomb. */
const MOST_DESCENDANTS = 32
/** Sessions that start sessions that start sessions: each generation is the child of the one before. */
const MOST_GENERATIONS = 8

/** What is left of a session's limits. `written`: bytes of output that it and its descendants have written. */
export function allowanceOf(
  caller: Session,
  { sessions, now, written }: { sessions: readonly Session[]; now: Instant; written: number },
): Allowance {
  const { maxTime, memory, maxOutput = null, limits } = caller.spec
  const known = byId(sessions)
  const children = sessions.filter(({ spec }) => spec.id !== caller.spec.id && descends(spec, caller.spec.id, known))
  const spent = children.map(child => spentBy(child.spending)).reduce(add, chargedTo(caller.spending))
  return {
    maxTime: maxTime === null ? null : Math.max(0, maxTime - timeUsedBy(caller, now)),
    memory,
    maxOutput: maxOutput === null ? null : Math.max(0, maxOutput - written),
    limits: leftOf(limits, spent),
  }
}

/** A person who is waited for costs no time. */
function timeUsedBy({ phase, clockSince }: Session, now: Instant): Duration {
  const until = phase.name === 'blocked' || phase.name === 'ended' ? sinceOf(phase) : now
  return Math.max(0, until - clockSince)
}

function sinceOf(phase: Extract<Session['phase'], { name: 'blocked' | 'ended' }>): Instant {
  return phase.name === 'blocked' ? phase.since : phase.at
}

function leftOf({ usd, tokens, turns }: Limits, spent: Spending): Limits {
  return {
    // Below a hundredth of a cent nothing is left.
    usd: usd === null ? null : Math.max(0, Math.floor((usd - (spent.usd ?? 0)) * 10_000) / 10_000),
    tokens: tokens === null ? null : Math.max(0, tokens - spent.input - spent.output),
    turns: turns === null ? null : Math.max(0, turns - spent.turns),
  }
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

/** Why a session may not start one more; null when it may. */
export function objectionToNumber(caller: Session, sessions: readonly Session[]): string | null {
  const known = byId(sessions)
  const line = lineOf(caller.spec, known)
  if (line.length >= MOST_GENERATIONS)
    return `it is number ${line.length} in a line of sessions that started each other`
  const first = line.at(-1) ?? caller.spec
  const live = sessions.filter(({ spec, phase }) => phase.name !== 'ended' && spec.id !== first.id)
  const many = live.filter(({ spec }) => descends(spec, first.id, known)).length
  return many < MOST_DESCENDANTS ? null : `${many} sessions that ${first.name} has started are alive`
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

/** Whether it is that session itself, or one that it has started, however indirectly. */
export function isOwn(target: Session, caller: Session, sessions: readonly Session[]): boolean {
  return descends(target.spec, caller.spec.id, byId(sessions))
}

type Known = ReadonlyMap<string, Spec>

function byId(sessions: readonly Session[]): Known {
  return new Map(sessions.map(({ spec }) => [spec.id, spec]))
}

function descends(spec: Spec, id: string, known: Known): boolean {
  return lineOf(spec, known).some(ancestor => ancestor.id === id)
}

/** A session, the one that has started it, the one that has started that, and so on. */
function lineOf(first: Spec, known: Known): Spec[] {
  const line = new Map<string, Spec>()
  let spec: Spec | undefined = first
  while (spec !== undefined && !line.has(spec.id)) {
    line.set(spec.id, spec)
    spec = known.get(spec.startedBy ?? spec.parent?.id ?? '')
  }
  return [...line.values()]
}

function least(wanted: number | null | undefined, own: number | null): number | null {
  if (wanted === undefined || wanted === null) return own
  return own === null ? wanted : Math.min(wanted, own)
}
