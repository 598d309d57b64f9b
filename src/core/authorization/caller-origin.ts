import type { Instant } from '../../lib/time.ts'
import type { SessionId } from '../session/session-id-and-name.ts'

/** A process on the path from the caller up to the first process of the machine. */
export interface Ancestor {
  readonly pid: number
  /** Opaque; the pid and this value identify one process. */
  readonly birth: string
  readonly bornAt: Instant
  readonly parent: number
  /** Its process session; 0 if that is unknown. */
  readonly session: number
  /** Its control group; `isOpen` if processes of its user may move into that; null if that is unknown. */
  readonly group: { readonly path: string; readonly isOpen: boolean } | null
  /** The attempts that its control group and its environment name. */
  readonly groupMarker: string | null
  readonly marker: string | null
  /** True if it adopts processes whose parent has ended, as far as its name shows. */
  readonly isReaper: boolean
}

/** The facts about a live session that identify a caller. */
export interface LiveSession {
  readonly id: SessionId
  /** True if the session may do less than its user. */
  readonly isConfined: boolean
  readonly createdAt: Instant
  readonly process: { readonly pid: number; readonly birth: string } | null
  /** The pids above that process. */
  readonly above: readonly number[]
  /** The control group of that process; null if that is unknown. */
  readonly group: string | null
}

/**
 * `unclear`: the caller may belong to one of these sessions, which may do less than their user, and nothing disproves
 * it.
 */
export type CallerOrigin =
  | { readonly kind: 'session'; readonly id: SessionId }
  | { readonly kind: 'outside' }
  | { readonly kind: 'unclear'; readonly suspects: readonly [SessionId, ...SessionId[]] }

/** Milliseconds. The kernel counts a process's age in hundredths of a second. */
const CLOCK_TICK = 20

/**
 * Determines if a request comes from a live session. A process can change its environment, move into the control group
 * of another session, leave its process session and lose its parent; it cannot be older than the session that started
 * it, nor become a descendant of another one. A process above the session's own adopts an orphan.
 */
export function determineCallerOrigin(
  chain: readonly Ancestor[],
  sessions: readonly LiveSession[],
  supervisor: number,
): CallerOrigin {
  const confined = sessions.filter(({ isConfined }) => isConfined)
  const proven =
    confined.find(session =>
      chain.some(ancestor => isSessionProcess(ancestor, session) || isInProcessSession(ancestor, session)),
    ) ?? sessions.find(session => chain.some(ancestor => isSessionProcess(ancestor, session)))
  if (proven !== undefined) return { kind: 'session', id: proven.id }
  const path = belowReapers(chain, sessions)
  const named = confined.filter(session => chain.some(ancestor => isNamedBy(ancestor, session)))
  const isElsewhere = path.some(({ pid, parent }) => pid === supervisor || parent === OTHER_NAMESPACE)
  if (isElsewhere && named.length === 0) return { kind: 'outside' }
  const isOlder = ({ createdAt }: LiveSession): boolean => path.some(({ bornAt }) => bornAt + CLOCK_TICK < createdAt)
  const isDoubtful = (session: LiveSession): boolean =>
    !isElsewhere && !isOlder(session) && !isInForeignCgroup(chain[0], session)
  const [first, ...more] = confined.filter(session => named.includes(session) || isDoubtful(session))
  if (first === undefined) return { kind: 'outside' }
  // The caller's own claim counts if it can belong to no other session.
  if (more.length === 0 && named.length === 1) return { kind: 'session', id: first.id }
  return { kind: 'unclear', suspects: [first.id, ...more.map(({ id }) => id)] }
}

/**
 * Returns true if the caller is in a control group that no process of that session can be in: neither by birth nor by a
 * move.
 */
function isInForeignCgroup(peer: Ancestor | undefined, { group }: LiveSession): boolean {
  const own = peer?.group ?? null
  return own !== null && group !== null && !own.isOpen && own.path !== group
}

/** A process without a parent in our pid namespace entered it from outside, as by `docker exec`. */
const OTHER_NAMESPACE = 0

/** Returns the path up to the first process that may have adopted the processes below it. */
function belowReapers(chain: readonly Ancestor[], sessions: readonly LiveSession[]): readonly Ancestor[] {
  const adopters = new Set([1, ...sessions.flatMap(({ above }) => above)])
  const top = chain.findIndex(({ pid, isReaper }) => isReaper || adopters.has(pid))
  return top === -1 ? chain : chain.slice(0, top)
}

/** Compares ancestors, about which a process cannot lie. */
function isSessionProcess({ pid, birth }: Ancestor, { process }: LiveSession): boolean {
  return process !== null && process.pid === pid && process.birth === birth
}

/** Nobody can join a process session. Another process may get its number later, so a match only takes rights away. */
function isInProcessSession({ session }: Ancestor, { process }: LiveSession): boolean {
  return process !== null && session !== 0 && session === process.pid
}

/**
 * Compares markers, about which a process can lie: every process of the user may set its environment, and move into the
 * control group of any session.
 */
function isNamedBy({ marker, groupMarker }: Ancestor, { id }: LiveSession): boolean {
  return sessionIdOfMarker(marker) === id || sessionIdOfMarker(groupMarker) === id
}

function sessionIdOfMarker(attempt: string | null): string | null {
  return attempt?.split('.')[0] ?? null
}
