import { refusal } from '../../api/contract/problems.ts'
import type { DaemonView, SessionView } from '../../api/contract/responses.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Engine } from '../../engine/engine.ts'
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

/** One request: its validated body, the session id of its path, and the session that sent it. */
export interface RouteCall<Body> {
  readonly body: Body
  /** Empty for a path without a session id. */
  readonly id: string
  readonly caller: Session | null
}

interface RouteDefinition<Body> extends AccessRules {
  /** Validates the body, and refuses it with a message that says what is wrong. Absent: the route ignores the body. */
  readonly parse?: (body: unknown) => Body
  readonly handle: (context: RouteContext, call: RouteCall<Body>) => Promise<unknown>
}

export interface Route extends AccessRules {
  readonly handle: (context: RouteContext, call: RouteCall<unknown>) => Promise<unknown>
}

/** Routes by method and path. */
export type Routes = Readonly<Record<string, Route>>

/** Returns a route whose handler receives a validated body. */
export function route<Body = undefined>({ parse, handle, ...access }: RouteDefinition<Body>): Route {
  return {
    ...access,
    handle: (context, { body, id, caller }) =>
      handle(context, { body: parse === undefined ? (undefined as Body) : parse(body), id, caller }),
  }
}

export function loadSession(context: Pick<RouteContext, 'store'>, id: string): Session {
  const session = context.store.load(id)
  if (session === undefined) throw refusal('no-session', `there is no session ${id}`)
  return session
}

export function loadSessionView(context: RouteContext, id: string): SessionView {
  return toSessionView(loadSession(context, id), context.home)
}
