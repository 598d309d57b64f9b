import type http from 'node:http'
import type { Socket } from 'node:net'
import { LOOP_KINDS } from '../api/contract/agent-kinds.ts'
import { refusal } from '../api/contract/problems.ts'
import { type Origin, originOf, type Suspect } from '../core/origin.ts'
import { isIdle, type Session } from '../core/session.ts'
import type { Instant } from '../lib/time.ts'
import type { Store } from '../ports/store.ts'
import { attemptOfLetter } from '../world/os/folders.ts'
import { ancestries, peerOf } from '../world/os/peer.ts'

/** Who makes a request: a session, or its user. `suspect`: the session that it cannot be told from, or the first of several. */
export interface Caller {
  readonly session: Session | null
  readonly suspect: Session | null
  readonly isOneOfSeveral?: true
  /** Nobody could ask the kernel. */
  readonly isUnknown?: true
}

export const THE_USER: Caller = { session: null, suspect: null }

/** Whether a session may do less than its user. Loops are our own program, whatever autonomy their agents have. */
export function isConfined({ spec }: Session): boolean {
  return spec.autonomy !== 'full' && !LOOP_KINDS.includes(spec.agent)
}

const connectedAt = new WeakMap<Socket, Instant>()

/** Remembers when a connection was made: who is at its other end is older. */
export function noteConnection(socket: Socket): void {
  connectedAt.set(socket, Date.now())
}

/** The session that a request says it comes from, by the header that our client sends. */
export function callerByHeader(request: http.IncomingMessage, store: Store): Caller {
  const told = request.headers['oneshot-attempt']
  const session = typeof told === 'string' ? store.load(attemptOfLetter(told).sessionId) : undefined
  return { session: session ?? null, suspect: null }
}

/**
 * Who makes a request. Where sessions live that may do less than their user, the header does not count against what the kernel
 * says of the process at the other end: a session that keeps silent, or takes the name of another, gains nothing.
 */
export async function callerOf(request: http.IncomingMessage, store: Store): Promise<Caller> {
  const told = callerByHeader(request, store)
  const live = store.live().filter(session => !isIdle(session))
  const confined = live.filter(isConfined)
  const [first = null] = confined
  if (first === null) return told
  const chain = await peerOf(request.socket, connectedAt.get(request.socket) ?? 0)
  if (chain === undefined)
    return { session: null, suspect: first, isUnknown: true, ...(confined.length > 1 && { isOneOfSeveral: true }) }
  const origin = originOf(chain, await suspectsAmong(live), process.pid)
  return callerFrom(origin, told, store)
}

function callerFrom(origin: Origin, told: Caller, store: Store): Caller {
  if (origin.kind === 'outside') return told
  if (origin.kind === 'session') return { session: store.load(origin.id) ?? null, suspect: null }
  const [suspect, ...more] = origin.suspects
  return { session: null, suspect: store.load(suspect) ?? null, ...(more.length > 0 && { isOneOfSeveral: true }) }
}

async function suspectsAmong(live: readonly Session[]): Promise<readonly Suspect[]> {
  const chains = await ancestries(live.map(({ life }) => life?.pid ?? 0))
  return live.map((session, index) => {
    const [own, ...above] = chains[index] ?? []
    const { life, spec } = session
    const isThere = life !== null && own?.birth === life.birth
    return {
      id: spec.id,
      isConfined: isConfined(session),
      createdAt: spec.createdAt,
      process: life,
      above: isThere ? above.map(({ pid }) => pid) : [],
      group: isThere ? (own.group?.path ?? null) : null,
    }
  })
}

/** Refuses a session what its user may do. */
export function notAllowed({ spec }: Session, deed: string): Error {
  const hint = 'if you want it, do it yourself in a terminal outside of sessions'
  return refusal('not-allowed', `the session ${spec.name} may not ${deed}`, hint)
}
