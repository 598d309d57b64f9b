import path from 'node:path'
import { LOOP_KINDS } from '../api/contract/agent-kinds.ts'
import { refusal } from '../api/contract/problems.ts'
import type { RunRequest } from '../api/contract/requests.ts'
import { type Allowance, allowanceOf, exhausted, objectionToRenewal, withinLimits } from '../core/allowance.ts'
import { isOwn, objectionTo, objectionToNumber } from '../core/rights.ts'
import type { Session } from '../core/session.ts'
import type { Refusal } from '../lib/refusal.ts'
import type { Store } from '../ports/store.ts'
import { environmentOf } from '../views/last-words.ts'
import type { Home } from '../world/os/home.ts'
import { type Caller, isConfined, notAllowed } from './caller.ts'

/**
 * `any`: whatever it concerns; `own`: itself and those that it has started, however indirectly; `never`: not at all. A request to
 * start or to remove sessions is held to the caller's rights when it is read.
 */
export type Right = 'any' | 'own' | 'never'

/** What a session may use: one with full autonomy, and one with less. */
export interface Rights {
  readonly full: Right
  readonly confined: Right
  /** It only takes something away: somebody who cannot be told from a confined session may use it on any of those. */
  readonly isEnding?: true
}

/** To look is nobody's privilege, and is not slowed by finding out who does. */
export function isForAll({ full, confined }: Rights, method: string | undefined): boolean {
  return method === 'GET' && full === 'any' && confined === 'any'
}

/** Refuses what a session may not do to others. */
export function assertMay(route: string, rights: Rights, id: string, caller: Caller, store: Store): void {
  const { session, suspect } = caller
  if (suspect !== null && !isOpenToSuspect(rights, id, caller, store)) throw unclear(suspect, caller)
  if (session === null) return
  const right = isConfined(session) ? rights.confined : rights.full
  if (right === 'never') throw notAllowed(session, route)
  if (right === 'own') assertOwn(id, session, store)
}

/**
 * Somebody who cannot be told from a session may do to it what it may do to itself, and stop or hold other confined ones. One
 * of several might be another: it writes to none.
 */
function isOpenToSuspect(
  { confined, isEnding }: Rights,
  id: string,
  { suspect, isOneOfSeveral }: Caller,
  store: Store,
): boolean {
  if (isEnding === true) return isConfinedIn(store, id)
  return confined === 'own' && id === suspect?.spec.id && isOneOfSeveral !== true
}

/** Who a request counts as: a stop or a hold by somebody who cannot be told from a session is not called that session's deed. */
export function actorOf({ isEnding }: Rights, { session, suspect }: Caller): Session | null {
  return isEnding === true ? session : (session ?? suspect)
}

function isConfinedIn(store: Store, id: string): boolean {
  const target = store.load(id)
  return target !== undefined && isConfined(target)
}

function unclear({ spec: { name, autonomy } }: Session, { isUnknown }: Caller): Refusal {
  const remedy = isUnknown
    ? 'install perl or python3, so that oneshot can find out who calls'
    : `use a terminal that was open before ${name} began`
  return refusal(
    'not-allowed',
    `oneshot cannot tell whether this command comes from the session ${name}, which has autonomy ${autonomy}`,
    `${remedy}, or: oneshot hold ${name}`,
  )
}

/** Refuses what concerns a session that this one has not started. */
export function assertOwn(id: string, caller: Session | null, store: Store): void {
  const target = store.load(id)
  if (caller === null || target === undefined || isOwn(target, caller, store.all())) return
  throw notAllowed(caller, `touch ${target.spec.name}, which it has not started`)
}

interface Given {
  readonly home: Home
  readonly store: Store
  readonly engine: { written: (sessions: readonly Session[]) => number }
}

/** A request of a session within its own rights and limits. Loops are our own program, and keep to the limits by themselves. */
export function withinRights(request: RunRequest, caller: Session | null, given: Given): RunRequest {
  if (caller === null) return request
  if (request.parent !== undefined && request.parent.id !== caller.spec.id)
    throw notAllowed(caller, 'start a session in the name of another')
  if (LOOP_KINDS.includes(caller.spec.agent)) return request
  const sessions = given.store.all()
  const why = objectionOf(request, caller)
  if (why !== null) throw notAllowed(caller, `start a session with more rights than its own: ${why}`)
  const tooMany = objectionToNumber(caller, sessions)
  if (tooMany !== null) throw notAllowed(caller, `start another session: ${tooMany}`)
  const left = leftTo(caller, given)
  const nothing = exhausted(left)
  if (nothing !== null)
    throw notAllowed(caller, `start another session: nothing is left of its ${nothing}${whoHolds(left)}`)
  return withinLimits(isConfined(caller) ? asConfined(request, caller, given.home) : request, left)
}

/** Refuses to have the limits of a session counted anew by another one that has less left, or by itself. */
export function assertMayWake(target: Session, caller: Session | null, given: Given): void {
  if (caller === null || LOOP_KINDS.includes(caller.spec.agent) || target.phase.name !== 'ended') return
  if (target.spec.id === caller.spec.id) throw notAllowed(caller, 'wake itself')
  const why = objectionToRenewal(target.spec, leftTo(caller, given))
  if (why !== null) throw notAllowed(caller, `wake ${target.spec.name}: ${why}`)
}

function leftTo(caller: Session, { store, engine }: Given): Allowance {
  const writtenBy = (session: Session): number => engine.written([session])
  return allowanceOf(caller, { sessions: store.all(), now: Date.now(), writtenBy })
}

function whoHolds({ reservedFor = [] }: Allowance): string {
  const holders = reservedFor.slice(0, 3).join(', ')
  return holders === '' ? '' : ` beside the part reserved for ${holders} (give each a part, such as --budget-usd 1)`
}

function objectionOf(request: RunRequest, caller: Session): string | null {
  const objection = objectionTo(request, caller.spec)
  if (objection !== null || !isConfined(caller)) return objection
  const { agent, cwd } = caller.spec
  if (LOOP_KINDS.includes(request.agent)) return 'a loop runs checks'
  // Another agent, or the same one elsewhere, may be told by files there what it may do.
  if (request.agent !== agent) return `${request.agent} is another agent`
  if (path.resolve(request.cwd) !== cwd) return `it works in ${cwd}, and nowhere else`
  return request.thread === undefined ? null : 'a conversation of others may be read'
}

/**
 * What a session with less than full autonomy may choose for another; the rest is as its user wanted it for itself. An
 * environment decides which program is run, and with which settings.
 */
function asConfined(request: RunRequest, { spec }: Session, home: Home): RunRequest {
  const { agent, argv, prompt, name, isNameMadeUp, maxTime, memory, maxOutput } = request
  const { alertAfter, autonomy, model, effort, limits, verify } = request
  const chosen = { prompt, name, isNameMadeUp, memory, maxOutput, alertAfter, autonomy }
  const others = { model, effort, limits, verify, umask: spec.umask }
  return {
    ...present({ ...chosen, ...others }),
    agent,
    argv,
    maxTime,
    cwd: spec.cwd,
    env: environmentOf(home, spec.id),
    mode: spec.mode,
    restart: spec.restart,
    patience: spec.patience,
    saving: { ...spec.saving, push: null },
    ...(spec.projectFiles === false && { projectFiles: false }),
    ...(spec.beads === true && { beads: true }),
  }
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>
}
