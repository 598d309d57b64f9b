import type http from 'node:http'
import type { Socket } from 'node:net'
import { LOOP_KINDS } from '../api/contract/known-agents.ts'
import { refusal } from '../api/contract/problems.ts'
import { type CallerOrigin, determineCallerOrigin, type LiveSession } from '../core/authorization/caller-origin.ts'
import { isIdle, type Session } from '../core/session/session-state.ts'
import type { Instant } from '../lib/time.ts'
import type { Store } from '../ports/store.ts'
import { parseMailboxEntry } from '../state/session-folder.ts'
import { readAncestors, findSocketPeer } from '../os/process/socket-peer.ts'

/**
 * The origin of a request: a session, or the user. `suspect` is the session that may be the caller, or the first of
 * several.
 */
export interface Caller {
  readonly session: Session | null
  readonly suspect: Session | null
  readonly isOneOfSeveral?: true
  /** The supervisor could not ask the kernel. */
  readonly isUnknown?: true
}

export const USER_CALLER: Caller = { session: null, suspect: null }

/**
 * Returns true for a session that may do less than its user. Loops are part of oneshot and never count as confined,
 * whatever autonomy their agents have.
 */
export function isConfined({ spec }: Session): boolean {
  return spec.autonomy !== 'full' && !LOOP_KINDS.includes(spec.agent)
}

const connectedAt = new WeakMap<Socket, Instant>()

/** Records the time of a connection: the process at its other end is older. */
export function recordConnection(socket: Socket): void {
  connectedAt.set(socket, Date.now())
}

/** Returns the session that the request names in the header that our client sends. */
export function callerFromHeader(request: http.IncomingMessage, store: Store): Caller {
  const attempt = request.headers['oneshot-attempt']
  const sender = typeof attempt === 'string' ? parseMailboxEntry(attempt) : null
  return { session: (sender && store.load(sender.sessionId)) ?? null, suspect: null }
}

/**
 * Identifies the caller of a request. While sessions with fewer rights than their user live, the kernel's information
 * about the peer process overrides the header: a session gains nothing by omitting the header or by naming another
 * session.
 */
export async function identifyCaller(request: http.IncomingMessage, store: Store): Promise<Caller> {
  const claimed = callerFromHeader(request, store)
  const live = store.live().filter(session => !isIdle(session))
  const confined = live.filter(isConfined)
  const [firstConfined = null] = confined
  if (firstConfined === null) return claimed
  const ancestors = await findSocketPeer(request.socket, connectedAt.get(request.socket) ?? 0)
  if (ancestors === undefined)
    return {
      session: null,
      suspect: firstConfined,
      isUnknown: true,
      ...(confined.length > 1 && { isOneOfSeveral: true }),
    }
  const origin = determineCallerOrigin(ancestors, await listPossibleCallers(live), process.pid)
  return callerFromOrigin(origin, claimed, store)
}

function callerFromOrigin(origin: CallerOrigin, claimed: Caller, store: Store): Caller {
  if (origin.kind === 'outside') return claimed
  if (origin.kind === 'session') return { session: store.load(origin.id) ?? null, suspect: null }
  const [first, ...more] = origin.suspects
  return { session: null, suspect: store.load(first) ?? null, ...(more.length > 0 && { isOneOfSeveral: true }) }
}

async function listPossibleCallers(live: readonly Session[]): Promise<readonly LiveSession[]> {
  const ancestorLists = await readAncestors(live.map(({ attempt: { process: identity } }) => identity?.pid ?? 0))
  return live.map((session, index) => {
    const [self, ...above] = ancestorLists[index] ?? []
    const { spec } = session
    const { process: identity } = session.attempt
    const isAlive = identity !== null && self?.birth === identity.birth
    return {
      id: spec.id,
      isConfined: isConfined(session),
      createdAt: spec.createdAt,
      process: identity,
      above: isAlive ? above.map(({ pid }) => pid) : [],
      group: isAlive ? (self.group?.path ?? null) : null,
    }
  })
}

/** Returns the refusal for an action that only the user may do. */
export function refuseCaller({ spec }: Session, action: string): Error {
  const hint = 'if you want it, do it yourself in a terminal outside of sessions'
  return refusal('not-allowed', `the session ${spec.name} may not ${action}`, hint)
}
