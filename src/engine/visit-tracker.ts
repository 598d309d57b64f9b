import type { Session } from '../core/session.ts'
import { finishedIssues, type Issue, stillSettled, type Tracked } from '../core/tracked.ts'
import type { Place, Tracker } from '../ports/tracker.ts'

/** What a visit needs of whoever makes it. */
export interface Visitor {
  readonly tracker: Tracker
  /** Asks for something with a time limit. `doing` is told when it is not answered. */
  readonly ask: <T>(doing: string, deed: (signal: AbortSignal) => Promise<T>) => Promise<T>
  /** Told of an issue that could not be closed; true when it is not to be tried again. */
  readonly stumble: (issue: string, cause: unknown) => boolean
  /** Told of trouble that keeps nobody from reading the list. */
  readonly complain: (cause: unknown) => void
  readonly keep: (seen: Pick<Tracked, 'version' | 'ready' | 'settled'>) => void
}

/**
 * One visit to a project's task tracker on behalf of a session: closes the issues whose tasks are finished, has it save what
 * it knows, and writes down what is ready. What was closed already is found closed: a visit that was broken off is made again.
 * With `isSparing` it is had to save only what is new to us.
 */
export async function visitTracker(
  session: Session,
  place: Place,
  visitor: Visitor,
  { isSparing }: { isSparing: boolean },
): Promise<void> {
  const { tracker, ask, complain, keep } = visitor
  const before = tracker.recall(session.spec.id)
  const read = (): Promise<Issue[]> => ask('reading what is ready', signal => tracker.ready(place, signal))
  const version = await ask('asking for its version', signal => tracker.version(place, signal))
  const found = await read()
  const settled = stillSettled(session.tasks, { ready: found, settled: before?.settled ?? [] })
  // What was ready once and is no longer may have been closed by whoever died before writing that down.
  const due = finishedIssues(session.tasks, { ready: [...found, ...(before?.ready ?? [])], settled })
  for (const issue of due) {
    const isListed = found.some(listed => listed.id === issue)
    if (await isSettled(issue, { isListed, session, place, visitor })) settled.push(issue)
  }
  const isNews = before === null || JSON.stringify(before.ready) !== JSON.stringify(found) || due.length > 0
  if (!isSparing || isNews) await ask('syncing it', signal => tracker.sync(place, signal)).catch(complain)
  const ready = due.length === 0 ? found : await read()
  keep({ version, ready, settled })
}

/** Whether nothing more is to be done about a finished issue. */
async function isSettled(
  issue: string,
  given: { isListed: boolean; session: Session; place: Place; visitor: Visitor },
): Promise<boolean> {
  const { isListed, session, place, visitor } = given
  const { tracker, ask, stumble } = visitor
  const { name, id } = session.spec
  const reason = `finished by ${name}, oneshot session ${id}`
  try {
    const isOpen =
      isListed || (await ask(`looking up ${issue}`, signal => tracker.show(place, issue, signal)))?.state !== 'done'
    if (isOpen) await ask(`closing ${issue}`, signal => tracker.close(place, issue, reason, signal))
    return true
  } catch (cause) {
    return stumble(issue, cause)
  }
}
