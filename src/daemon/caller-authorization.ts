import path from 'node:path'
import { LOOP_KINDS } from '../api/contract/known-agents.ts'
import { refusal } from '../api/contract/problems.ts'
import { shownName } from '../api/contract/shown-name.ts'
import type { RunRequest } from '../api/contract/run-request.ts'
import {
  type RemainingLimits,
  remainingLimits,
  findExhaustedLimit,
  reasonNotToReset,
  clampToLimits,
} from '../core/authorization/remaining-limits.ts'
import { isOwnOrDescendant, reasonNotToStart, reasonNotToStartMore } from '../core/authorization/may-start-session.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Refusal } from '../lib/errors.ts'
import type { Store } from '../ports/store.ts'
import { readEnvironment } from '../state/env-file.ts'
import type { Home } from '../state/home.ts'
import { type Caller, isConfined, refuseCaller } from './caller.ts'

/**
 * `any`: any session; `own`: the caller itself and the sessions that it has started, directly or indirectly; `never`:
 * no session. The handlers of requests that start or remove sessions check the caller's rights themselves.
 */
export type AccessLevel = 'any' | 'own' | 'never'

/** The access levels of a session with full autonomy, and of a session with less. */
export interface AccessRules {
  readonly full: AccessLevel
  readonly confined: AccessLevel
  /**
   * The route only ends or pauses sessions: a caller who may be a confined session may use it on any confined session.
   */
  readonly isEnding?: true
}

/**
 * Returns true for routes that everybody may read; the server skips the identification of the caller, which takes time.
 */
export function isPublic({ full, confined }: AccessRules, method: string | undefined): boolean {
  return method === 'GET' && full === 'any' && confined === 'any'
}

/** Refuses a request that exceeds the caller's rights. `id` is null if the request names no session. */
export function assertAllowed(
  route: string,
  rights: AccessRules,
  id: SessionId | null,
  caller: Caller,
  store: Store,
): void {
  const { session, suspect: possibleSession } = caller
  if (possibleSession !== null && !isAllowedWhenUnclear(rights, id, caller, store))
    throw refuseUnclearCaller(possibleSession, caller)
  if (session === null) return
  const level = isConfined(session) ? rights.confined : rights.full
  if (level === 'never') throw refuseCaller(session, ACTIONS[route] ?? `send ${route}`)
  if (level === 'own' && id !== null) assertOwn(id, session, store)
}

/** Describes the routes that are closed to some sessions: "the session X may not …". */
const ACTIONS: Readonly<Record<string, string>> = {
  'POST /v1/daemon/stop': 'stop the supervisor',
  'POST /v1/notify/test': 'send test notifications',
  'POST /v1/restore': 'restore checkpoints',
  'POST /v1/sessions/:id/rename': 'rename sessions',
  'POST /v1/sessions/:id/restore': 'restore checkpoints',
  'POST /v1/sessions/:id/resume': 'resume sessions',
  'POST /v1/sessions/adopt': 'continue the session of another machine',
  'POST /v1/sessions/clean': 'remove sessions',
}

/**
 * A caller who may be a session may do to it what the session may do to itself, and may stop or hold other confined
 * sessions. If several sessions are possible, the caller may write to none.
 */
function isAllowedWhenUnclear(
  { confined, isEnding }: AccessRules,
  id: SessionId | null,
  { suspect: possibleSession, isOneOfSeveral }: Caller,
  store: Store,
): boolean {
  if (isEnding === true) return id !== null && isSessionConfined(store, id)
  return confined === 'own' && id === possibleSession?.spec.id && isOneOfSeveral !== true
}

/**
 * Returns the session on whose behalf a request acts. A stop or hold by an unclear caller is not attributed to the
 * possible session.
 */
export function actingSession(
  { isEnding }: AccessRules,
  { session, suspect: possibleSession }: Caller,
): Session | null {
  return isEnding === true ? session : (session ?? possibleSession)
}

function isSessionConfined(store: Store, id: SessionId): boolean {
  const target = store.load(id)
  return target !== undefined && isConfined(target)
}

function refuseUnclearCaller({ spec: { name, autonomy } }: Session, { isUnknown }: Caller): Refusal {
  const remedy = isUnknown
    ? 'install perl or python3, so that oneshot can find out who calls'
    : `use a terminal that was open before ${name} began`
  return refusal(
    'not-allowed',
    `oneshot cannot tell whether this command comes from the session ${name}, which has autonomy ${autonomy}`,
    `${remedy}, or: oneshot hold ${name}`,
  )
}

/** Refuses access to a session that the caller has not started. */
export function assertOwn(id: SessionId, caller: Session | null, store: Store): void {
  const target = store.load(id)
  const known = { get: (owner: SessionId) => store.load(owner)?.spec }
  if (caller === null || target === undefined || isOwnOrDescendant(target, caller, known)) return
  throw refuseCaller(caller, `change ${shownName(target.spec)}: it has not started that session`)
}

interface AccessContext {
  readonly home: Home
  readonly store: Store
  readonly engine: { written: (sessions: readonly Session[]) => number }
}

/**
 * Reduces a session's request to the session's own rights and limits. Loops are part of oneshot and observe the limits
 * themselves.
 */
export function limitToRights(request: RunRequest, caller: Session | null, context: AccessContext): RunRequest {
  if (caller === null) return request
  if (request.parent !== undefined && request.parent.id !== caller.spec.id)
    throw refuseCaller(caller, 'start a session in the name of another')
  if (LOOP_KINDS.includes(caller.spec.agent)) return request
  const sessions = context.store.family(caller.spec.id)
  const objection = findObjection(request, caller)
  if (objection !== null) throw refuseCaller(caller, `start a session with more rights than its own: ${objection}`)
  const numberObjection = reasonNotToStartMore(caller, sessions)
  if (numberObjection !== null) throw refuseCaller(caller, `start another session: ${numberObjection}`)
  const remaining = remainingAllowance(caller, context)
  const usedUpLimit = findExhaustedLimit(remaining)
  if (usedUpLimit !== null)
    throw refuseCaller(
      caller,
      `start another session: nothing is left of its ${usedUpLimit}${describeReservations(remaining)}`,
    )
  return clampToLimits(isConfined(caller) ? confineRequest(request, caller, context.home) : request, remaining)
}

/** Refuses a wake that resets the target's limits if the caller has less left, or if the caller is the target. */
export function assertMayWake(target: Session, caller: Session | null, context: AccessContext): void {
  if (caller === null || LOOP_KINDS.includes(caller.spec.agent) || target.phase.name !== 'ended') return
  if (target.spec.id === caller.spec.id) throw refuseCaller(caller, 'wake itself')
  const objection = reasonNotToReset(target.spec, remainingAllowance(caller, context))
  if (objection !== null) throw refuseCaller(caller, `wake ${target.spec.name}: ${objection}`)
}

function remainingAllowance(caller: Session, { store, engine }: AccessContext): RemainingLimits {
  const writtenBy = (session: Session): number => engine.written([session])
  return remainingLimits(caller, { sessions: store.family(caller.spec.id), now: Date.now(), writtenBy })
}

function describeReservations({ reservedFor = [] }: RemainingLimits): string {
  const holders = reservedFor.slice(0, 3).join(', ')
  return holders === '' ? '' : ` beside the part reserved for ${holders} (give each a part, such as --budget-usd 1)`
}

function findObjection(request: RunRequest, caller: Session): string | null {
  const objection = reasonNotToStart(request, caller.spec)
  if (objection !== null || !isConfined(caller)) return objection
  const { agent, cwd } = caller.spec
  if (LOOP_KINDS.includes(request.agent)) return 'a loop runs checks'
  // Files in another folder, or of another agent, may grant that agent more rights.
  if (request.agent !== agent) return `${request.agent} is another agent`
  if (path.resolve(request.cwd) !== cwd) return `it works in ${cwd}, and nowhere else`
  return request.thread === undefined ? null : 'a conversation of others may be read'
}

/**
 * Takes only the fields that a session with less than full autonomy may choose for another; the other fields come from
 * its own spec. The environment is one of these, because it decides which program runs, and with which settings.
 */
function confineRequest(request: RunRequest, { spec }: Session, home: Home): RunRequest {
  const { agent, argv, prompt, name, isNameMadeUp, autonomy, model, effort } = request
  const { maxTime, memory, maxOutput, alertAfter, limits, verify } = request.supervision
  const { supervision: own } = spec
  return {
    ...omitUndefined({ prompt, name, isNameMadeUp, autonomy, model, effort, umask: spec.umask }),
    agent,
    argv,
    cwd: spec.cwd,
    env: readEnvironment(home, spec.id),
    mode: spec.mode,
    supervision: {
      ...omitUndefined({ memory, maxOutput, alertAfter, limits, verify }),
      maxTime,
      restart: own.restart,
      patience: own.patience,
      saving: { ...own.saving, push: null },
      ...(own.stopGrace !== undefined && { stopGrace: own.stopGrace }),
      ...(own.projectFiles === false && { projectFiles: false }),
      ...(own.beads === true && { beads: true }),
    },
  }
}

type WithoutUndefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function omitUndefined<T extends object>(fields: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>
}
