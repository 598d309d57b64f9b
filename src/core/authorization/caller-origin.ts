import type { Instant } from '../../lib/time.ts'

/** A process on the way from whoever asks up to the first process of the machine. */
export interface Ancestor {
  readonly pid: number
  /** Opaque; with the pid it names one process. */
  readonly birth: string
  readonly bornAt: Instant
  readonly parent: number
  /** The process session it belongs to; 0 where that is not known. */
  readonly session: number
  /** Its control group, and whether processes of its user may move into that; null where that is not known. */
  readonly group: { readonly path: string; readonly isOpen: boolean } | null
  /** The attempts that its control group and its environment name. */
  readonly groupMarker: string | null
  readonly marker: string | null
  /** Whether it adopts processes whose parent has ended, as far as its name tells. */
  readonly isReaper: boolean
}

/** A live session, as far as it matters for who asks. */
export interface LiveSession {
  readonly id: string
  /** Whether it may do less than its user. */
  readonly isConfined: boolean
  readonly createdAt: Instant
  readonly process: { readonly pid: number; readonly birth: string } | null
  /** The pids above that process. */
  readonly above: readonly number[]
  /** The control group of that process; null where that is not known. */
  readonly group: string | null
}

/** `unclear`: it may be of one of these sessions, which may do less than their user, and nothing shows that it is not. */
export type CallerOrigin =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'outside' }
  | { readonly kind: 'unclear'; readonly suspects: readonly [string, ...string[]] }

/** The kernel counts a process's age in hundredths of a second. */
const CLOCK_TICK = 20

/**
 * Tells whether a request comes from a live session. A process can change its environment, move into the control group of
 * another session, leave its process session and lose its parent; it cannot be older than the session that started it, nor
 * become a descendant of another one. An orphan is adopted by a process above the session's own.
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
  // Its own word is believed where it can be of no other session.
  if (more.length === 0 && named.length === 1) return { kind: 'session', id: first.id }
  return { kind: 'unclear', suspects: [first.id, ...more.map(({ id }) => id)] }
}

/** Whether it is in a control group that no process of that session can be in: not by birth, and not by moving there. */
function isInForeignCgroup(peer: Ancestor | undefined, { group }: LiveSession): boolean {
  const own = peer?.group ?? null
  return own !== null && group !== null && !own.isOpen && own.path !== group
}

/** A process without a parent in our pid namespace was brought into it from outside, as by `docker exec`. */
const OTHER_NAMESPACE = 0

/** The way up to the first process that may have adopted what is below it. */
function belowReapers(chain: readonly Ancestor[], sessions: readonly LiveSession[]): readonly Ancestor[] {
  const adopters = new Set([1, ...sessions.flatMap(({ above }) => above)])
  const top = chain.findIndex(({ pid, isReaper }) => isReaper || adopters.has(pid))
  return top === -1 ? chain : chain.slice(0, top)
}

/** By what a process cannot say of itself: its ancestors. */
function isSessionProcess({ pid, birth }: Ancestor, { process }: LiveSession): boolean {
  return process !== null && process.pid === pid && process.birth === birth
}

/** Nobody can join a process session. Its number may come back with another process, so it only takes rights away. */
function isInProcessSession({ session }: Ancestor, { process }: LiveSession): boolean {
  return process !== null && session !== 0 && session === process.pid
}

/** By what it can: every process of the user may set its environment, and move into the control group of any session. */
function isNamedBy({ marker, groupMarker }: Ancestor, { id }: LiveSession): boolean {
  return sessionIdOfMarker(marker) === id || sessionIdOfMarker(groupMarker) === id
}

function sessionIdOfMarker(attempt: string | null): string | null {
  return attempt?.split('.')[0] ?? null
}
