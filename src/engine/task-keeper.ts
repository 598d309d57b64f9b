import type { Trigger } from '../core/checkpoint.ts'
import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { finishedIssues } from '../core/tracked.ts'
import type { Duration } from '../lib/time.ts'
import { wordsOf } from '../lib/trouble.ts'
import { Turnstile } from '../lib/turnstile.ts'
import { Superseded } from '../ports/store.ts'
import { Backoff } from './backoff.ts'
import { type Visitor, visitTracker } from './visit-tracker.ts'
import { withLimit } from './with-limit.ts'
import type { World } from './world.ts'

/** A tracker answers within a second; one that takes this long waits for something that may never come. */
const PATIENCE: Duration = 10_000
/** An issue that could not be closed so often is left to people. */
const MOST_TRIES = 3

type Place = Pick<World, 'store' | 'work' | 'clock' | 'tracker' | 'say' | 'onTrouble'>

interface Waiting {
  readonly triggers: Set<Trigger>
  readonly visited: Promise<void>
}

/** How a visit went. */
interface Course {
  readonly complaints: unknown[]
  /** It is to be made again. */
  isUnfinished: boolean
}

/**
 * Keeps a project's own task tracker and a session's tasks together, beside the work and never in its way. What is to be
 * closed follows from what is recorded: killed at any moment, the next supervisor comes to the same.
 */
export class TaskKeeper {
  readonly #world: Place
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  readonly #turnstile = new Turnstile()
  readonly #backoff: Backoff
  readonly #ending = new AbortController()
  /** Visits that have not begun: another wish for the same session changes nothing more. */
  readonly #waiting = new Map<string, Waiting>()
  /** The tasks of each live session, as they were when it was last heard of. */
  readonly #known = new Map<string, string>()
  readonly #stumbles = new Map<string, number>()

  constructor(world: Place, report: (sessionId: string, signal: Signal) => Promise<void>) {
    this.#world = world
    this.#report = report
    this.#backoff = new Backoff(world.clock, ids => this.#tryAgain(ids))
  }

  /** Takes up what a supervisor before us did not live to carry over. */
  start(): void {
    for (const session of this.#world.store.all())
      if (session.spec.beads === true && this.#isBehind(session)) this.attend(session, 'start')
  }

  /** Told of each session as it is now, as often as it changes. */
  follow(session: Session): void {
    const { id } = session.spec
    const before = this.#known.get(id)
    if (session.phase.name === 'ended') {
      this.#known.delete(id)
      if (before !== undefined || this.#isBehind(session)) this.attend(session, 'end')
      return
    }
    const tasks = JSON.stringify(session.tasks)
    this.#known.set(id, tasks)
    if (before === undefined) this.attend(session, 'start')
    else if (before !== tasks) this.attend(session, 'edit')
  }

  /**
   * Visits the session's task tracker, where its project has one: at each moment at which its work is saved. One at a time
   * per tracker. It never throws.
   */
  attend(session: Session, trigger: Trigger): void {
    void this.#attend(session, trigger)
  }

  async #attend(session: Session, trigger: Trigger): Promise<void> {
    const { id } = session.spec
    const waiting = this.#waiting.get(id)
    waiting?.triggers.add(trigger)
    if (waiting !== undefined || this.#ending.signal.aborted) return waiting?.visited
    try {
      const root = this.#world.tracker.find(this.#placeOf(session))
      if (root === null) return
      if (session.spec.beads !== true) return this.#suggest(session)
      if (this.#isTurnedAway(root, session)) return
      const triggers = new Set([trigger])
      const visited = this.#turnstile.pass(root, () => {
        this.#waiting.delete(id)
        return this.#visit(id, root, { isSparing: [...triggers].every(each => each === 'edit') })
      })
      this.#waiting.set(id, { triggers, visited })
      await visited
    } catch (cause) {
      this.#world.onTrouble('', cause)
    }
  }

  /** Nothing new is begun, and what is under way is broken off. */
  async stop(): Promise<void> {
    this.#ending.abort()
    this.#backoff.stop()
    await this.#turnstile.idle()
  }

  async #visit(id: string, root: string, how: { isSparing: boolean }): Promise<void> {
    const session = this.#world.store.load(id)
    if (session === undefined || this.#ending.signal.aborted || this.#isTurnedAway(root, session)) return
    const course: Course = { complaints: [], isUnfinished: false }
    try {
      await visitTracker(session, this.#placeOf(session), this.#visitorFor(session, course), how)
    } catch (cause) {
      if (cause instanceof Superseded) throw cause
      if (this.#ending.signal.aborted) return
      course.complaints.unshift(cause)
      course.isUnfinished = true
    }
    const [complaint] = course.complaints
    if (course.isUnfinished) this.#backoff.fail(root, id, complaint)
    else this.#backoff.succeed(root)
    if (complaint === undefined) return
    this.#world.say(`${session.spec.name} ${this.#world.tracker.kind}: ${wordsOf(complaint)}`)
    this.#note(session, complaint)
  }

  #visitorFor({ spec }: Session, course: Course): Visitor {
    const { clock, store, tracker } = this.#world
    const ending = this.#ending.signal
    return {
      tracker,
      ask: async (doing, deed) => {
        store.assertEpoch()
        return await withLimit(deed, { clock, limit: PATIENCE, doing, ending })
      },
      stumble: (issue, cause) => {
        if (cause instanceof Superseded) throw cause
        const tries = (this.#stumbles.get(`${spec.id} ${issue}`) ?? 0) + 1
        this.#stumbles.set(`${spec.id} ${issue}`, tries)
        course.complaints.push(cause)
        course.isUnfinished ||= tries < MOST_TRIES
        return tries >= MOST_TRIES
      },
      complain: cause => {
        if (cause instanceof Superseded) throw cause
        course.complaints.push(cause)
      },
      keep: seen => {
        store.assertEpoch()
        tracker.keep(spec.id, { ...seen, at: clock.now() })
      },
    }
  }

  #isTurnedAway(root: string, session: Session): boolean {
    const pause = this.#backoff.turnsAway(root, session.spec.id)
    if (pause !== undefined) this.#note(session, pause.cause)
    return pause !== undefined
  }

  /** A tracker runs hooks of the project, which its user may not know: it is not run before the user agrees. */
  #suggest(session: Session): void {
    if (session.spec.parent !== undefined || session.phase.name === 'ended') return
    this.#note(session, 'this project has .beads: set beads = true in your own config to sync its tasks', '')
  }

  /** A session's own story tells it once, whatever it was; the supervisor's each time. */
  #note({ spec }: Session, cause: unknown, ending = '; the work continues without it'): void {
    const { clock, store, tracker } = this.#world
    if (store.load(spec.id)?.notes.some(note => note.startsWith(`${tracker.kind}: `))) return
    const note = `${tracker.kind}: ${wordsOf(cause)}${ending}`
    void this.#report(spec.id, { at: clock.now(), type: 'trouble.noted', note })
  }

  #tryAgain(ids: readonly string[]): void {
    const sessions = ids.flatMap(id => this.#world.store.load(id) ?? [])
    for (const session of sessions)
      if (session.phase.name !== 'ended' || this.#isBehind(session)) this.attend(session, 'interval')
  }

  /** By what is recorded: its tracker was never seen, or has not been told of something finished. */
  #isBehind({ spec, phase, tasks }: Session): boolean {
    if (phase.name === 'ended' && !tasks.some(({ state }) => state === 'done')) return false
    const known = this.#world.tracker.recall(spec.id)
    return known === null || finishedIssues(tasks, known).length > 0
  }

  #placeOf({ spec }: Session): { cwd: string; env: Readonly<Record<string, string>> } {
    return { cwd: spec.cwd, env: this.#world.work.environment(spec.id) }
  }
}
