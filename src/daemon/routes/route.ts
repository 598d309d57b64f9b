import { refusal } from '../../api/contract/problems.ts'
import type { DaemonView, SessionView } from '../../api/contract/responses.ts'
import { isSessionId, type SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Refusal } from '../../lib/errors.ts'
import type { KeyedMutex } from '../../lib/keyed-mutex.ts'
import type { Agent } from '../../ports/agent.ts'
import type { Checkpoints } from '../../ports/checkpoints.ts'
import type { Store } from '../../ports/store.ts'
import type { Home } from '../../state/home.ts'
import { toSessionView } from '../../views/session-view.ts'
import type { AccessRules } from '../caller-authorization.ts'
import type { ProjectFiles } from '../project-files/project-files.ts'

export interface RouteContext {
  readonly home: Home
  readonly store: Store
  readonly engine: Engine
  readonly projectFiles: Pick<ProjectFiles, 'remove'>
  readonly startMutex: KeyedMutex
  readonly agents: (kind: string) => Agent
  readonly checkpoints: Checkpoints
  /** Refuses when this machine cannot start sessions. */
  readonly assertReady: () => Promise<void>
  readonly describe: () => DaemonView
  readonly stop: () => void
  /** Writes a line to the supervisor's log. */
  readonly log: (sentence: string) => void
}

/** One request: its validated body, and the session that sent it. */
export interface RouteCall<Body> {
  readonly body: Body
  readonly caller: Session | null
}

/** A request with the id of a session in its path. */
export interface SessionRouteCall<Body> extends RouteCall<Body> {
  readonly id: SessionId
}

interface RouteDefinition<Body, Call> extends AccessRules {
  /** Validates the body, and refuses it with a message that says what is wrong. Absent: the route ignores the body. */
  readonly parse?: (body: unknown) => Body
  readonly handle: (context: RouteContext, call: Call) => Promise<unknown>
}

/** `pathId` is the unchecked part of the path in the place of an id; empty for a path without one. */
interface UncheckedCall extends RouteCall<unknown> {
  readonly pathId: string
}

export interface Route extends AccessRules {
  readonly handle: (context: RouteContext, call: UncheckedCall) => Promise<unknown>
}

/** Routes by method and path. */
export type Routes = Readonly<Record<string, Route>>

/** Returns a route whose handler receives a validated body. */
export function route<Body = undefined>(definition: RouteDefinition<Body, RouteCall<Body>>): Route {
  return defineRoute(definition, call => call)
}

/** Returns a route whose handler also receives the id in the path. */
export function sessionRoute<Body = undefined>(definition: RouteDefinition<Body, SessionRouteCall<Body>>): Route {
  return defineRoute(definition, (call, pathId) => ({ ...call, id: parseSessionId(pathId) }))
}

function defineRoute<Body, Call>(
  { parse, handle, ...access }: RouteDefinition<Body, Call>,
  toCall: (call: RouteCall<Body>, pathId: string) => Call,
): Route {
  return {
    ...access,
    handle: (context, { body, pathId, caller }) =>
      handle(context, toCall({ body: parse === undefined ? (undefined as Body) : parse(body), caller }, pathId)),
  }
}

/** Refuses a text that is no id, as `loadSession` refuses the id of an unknown session. */
export function parseSessionId(text: string): SessionId {
  if (isSessionId(text)) return text
  throw unknownSession(text)
}

export function loadSession(context: Pick<RouteContext, 'store'>, id: SessionId): Session {
  const session = context.store.load(id)
  if (session === undefined) throw unknownSession(id)
  return session
}

function unknownSession(id: string): Refusal {
  return refusal('no-session', `there is no session ${id}`)
}

export function loadSessionView(context: RouteContext, id: SessionId): SessionView {
  return toSessionView(loadSession(context, id), context.home)
}
