import type { Event } from '../../core/events.ts'
import type { Session } from '../../core/session.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import type { Pulse } from '../../views/pulse.ts'
import { AGENT_FOLDER, isTaken } from '../../world/project/agent-folder.ts'
import { LogCopier } from './log-copier.ts'
import { Pen, type Written } from './pen.ts'
import type { Studio } from './studio.ts'

/** What has just happened is seldom all: whatever it leads to has a moment to follow, and the work goes first. */
const SOON: Duration = 100
/** How often pages are written at most; on a slow disk as seldom as it is slow. */
const PAUSE: Duration = 1_000
const SLOWNESS = 20
/** How often an end is tried to be told where that does not succeed, as on a full disk. */
const MOST_TRIES = 20

export interface DeskEvents {
  readonly onWritten: (session: Session, written: Written) => void
  /** It has ended, and everything is written, or cannot be for now. */
  readonly onFinished: (session: Session) => void
  readonly onTrouble: (session: Session, cause: unknown) => void
}

/** Sees to it that the files of one session are written in time, for as long as it lives and until its end is told. */
export class Desk {
  readonly #studio: Studio
  readonly #events: DeskEvents
  readonly #pen: Pen
  readonly #log: LogCopier
  readonly #closing = new AbortController()
  #session: Session
  /** Something is to be told that the pages do not tell yet. */
  #isStale = true
  #isBeatDue = true
  #tries = 0
  /** When pages will be written next, and not before when. */
  #writeAt: Instant | undefined
  #nextAt: Instant
  #cancel: () => void = () => undefined

  constructor(session: Session, studio: Studio, events: DeskEvents) {
    this.#studio = studio
    this.#events = events
    this.#session = session
    this.#pen = new Pen(session.spec.id, studio)
    this.#nextAt = studio.clock.now()
    this.#log = new LogCopier(studio, {
      session: () => this.#session,
      mask: () => this.#pen.maskFor(this.#session),
      note: () => this.#pen.note.log,
      save: log => {
        // What it says is on its pages, too; with the next heartbeat is soon enough.
        if (log.length > 0) this.#isStale = true
        this.#pen.save({ log })
      },
      fail: cause => this.#fail(cause),
      ending: this.#closing.signal,
    })
  }

  get session(): Session {
    return this.#session
  }

  /** It is like this now. */
  tell(session: Session): void {
    this.#session = session
    this.#isStale = true
    this.#log.wake()
    const soon = this.#studio.clock.now() + SOON
    this.#writeBy(session.phase.name === 'ended' ? soon : Math.max(soon, this.#nextAt))
  }

  /** This became true of it. */
  add(event: Event): void {
    this.#pen.add(event)
  }

  /** Half a minute has passed. Most sessions have nothing to tell but that: a line is added, and nothing else is looked at. */
  beat(): void {
    const pulse = this.#isStale || this.#pen.hasNews ? null : this.#tryToBeat()
    if (pulse !== null) return this.#log.check(pulse.written)
    this.#isBeatDue = true
    this.#writeBy(this.#studio.clock.now())
  }

  /** Writes what is still to be written, now. */
  async flush(): Promise<void> {
    if (this.#isStale) this.#write()
    await this.#log.copyAll()
  }

  /** Nothing more is written from now on, whatever happens. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#cancel()
    await this.#log.close()
  }

  #writeBy(at: Instant): void {
    if (this.#closing.signal.aborted || (this.#writeAt !== undefined && this.#writeAt <= at)) return
    this.#cancel()
    this.#writeAt = at
    this.#cancel = this.#studio.clock.ring(at, () => void this.#studio.writing.turn(() => this.#write()))
  }

  #write(): void {
    if (this.#closing.signal.aborted) return
    this.#cancel()
    this.#writeAt = undefined
    const { clock } = this.#studio
    const begun = clock.awake()
    const session = this.#session
    const isDone = this.#attempt(() => this.#writeNow(session))
    this.#nextAt = clock.now() + Math.max(PAUSE, (clock.awake() - begun) * SLOWNESS)
    if (session.phase.name !== 'ended') return
    if (isDone) void this.#finish(session)
    else this.#giveUpInTime(session)
  }

  #writeNow(session: Session): void {
    const written = this.#pen.write(session, { isBeatDue: this.#isBeatDue })
    this.#isStale = false
    this.#isBeatDue = false
    if (written.isWritten) this.#events.onWritten(session, written)
    else if (isTaken(session.spec.cwd)) this.#fail(new Error(`${AGENT_FOLDER} is a file or a link, and is left alone`))
  }

  #tryToBeat(): Pulse | null {
    try {
      return this.#pen.beat(this.#session)
    } catch (cause) {
      this.#fail(cause)
      return null
    }
  }

  /** False when it could not be done. */
  #attempt(deed: () => void): boolean {
    try {
      this.#studio.store.assertEpoch()
      deed()
      return true
    } catch (cause) {
      this.#isStale = true
      this.#fail(cause)
      return false
    }
  }

  async #finish(session: Session): Promise<void> {
    const isCopied = await this.#log.copyAll()
    const isStillSo = this.#session === session && this.#writeAt === undefined && !this.#closing.signal.aborted
    if (!isStillSo || session.phase.name !== 'ended') return
    const { at } = session.phase
    if (isCopied) {
      if (this.#attempt(() => this.#pen.save({ endedAt: at }))) this.#events.onFinished(session)
      return
    }
    this.#isStale = true
    this.#giveUpInTime(session)
  }

  /** That its end is told is not noted then: the next supervisor tells it. */
  #giveUpInTime(session: Session): void {
    if (++this.#tries >= MOST_TRIES) this.#events.onFinished(session)
  }

  #fail(cause: unknown): void {
    if (!this.#closing.signal.aborted) this.#events.onTrouble(this.#session, cause)
  }
}
