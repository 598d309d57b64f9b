import fs from 'node:fs'
import type { Event } from '../../core/events.ts'
import type { PhaseName, Session } from '../../core/session.ts'
import { secretsIn } from '../../lib/mask/env-secrets.ts'
import { Mask } from '../../lib/mask/mask.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import type { Folder } from '../../world/project/open-folder.ts'
import { BEAT_EVERY, Heart } from './heart.ts'
import { LogCopier } from './log-copier.ts'
import { type Note, readNote, saveNote } from './note.ts'
import { Story } from './story.ts'
import { folderOf, type Studio } from './studio.ts'
import { writePages } from './write-pages.ts'

/** What has just happened is seldom all: whatever it leads to has a moment to follow, and the work goes first. */
const SOON: Duration = 100
/** How often pages are written at most; on a slow disk as seldom as it is slow. */
const PAUSE: Duration = 1_000
const SLOWNESS = 20
/** How often an end is tried to be told where that does not succeed, as on a full disk. */
const MOST_TRIES = 20

export interface DeskEvents {
  /** Its pages are there: links can lead to them. `isMadeAnew`: somebody had taken the folder away. */
  readonly onWritten: (session: Session, isMadeAnew: boolean) => void
  /** It has ended, and everything is written. */
  readonly onFinished: (session: Session) => void
  readonly onTrouble: (session: Session, cause: unknown) => void
}

/** Writes the files of one session, for as long as it lives and until its end is told. */
export class Desk {
  readonly #studio: Studio
  readonly #events: DeskEvents
  readonly #heart: Heart
  readonly #log: LogCopier
  readonly #closing = new AbortController()
  readonly #written = new Map<string, string>()
  #session: Session
  #story: Story | undefined
  #note: Note
  #mask: { readonly attempt: number; readonly mask: Mask } | undefined
  #isStale = true
  #tries = 0
  /** As the last heartbeat has told it. */
  #phase: PhaseName | undefined
  /** When it will be written next, and not before when. */
  #writeAt: Instant | undefined
  #nextAt: Instant
  #beatAt: Instant
  #cancel: () => void = () => undefined

  constructor(session: Session, studio: Studio, events: DeskEvents) {
    this.#studio = studio
    this.#events = events
    this.#session = session
    this.#note = readNote(studio.home, session.spec.id) ?? { log: null, state: null, endedAt: null }
    this.#heart = new Heart(studio)
    this.#nextAt = studio.clock.now()
    this.#beatAt = studio.clock.now()
    this.#log = new LogCopier(studio, {
      session: () => this.#session,
      mask: () => this.#maskNow(),
      note: () => this.#note.log,
      save: log => this.#noteLog(log),
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
    this.#story?.add(event)
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
    const isWritten = this.#tryToWrite(session)
    this.#nextAt = clock.now() + Math.max(PAUSE, (clock.awake() - begun) * SLOWNESS)
    const isOver = session.phase.name === 'ended' && (isWritten || ++this.#tries >= MOST_TRIES)
    if (isOver) void this.#finish(session)
    else this.#writeBy(Math.max(this.#beatAt, this.#nextAt))
  }

  #tryToWrite(session: Session): boolean {
    try {
      this.#studio.store.assertEpoch()
      this.#inFolder((folder, isMadeAnew) => this.#writeIn(folder, session, isMadeAnew))
      return true
    } catch (cause) {
      this.#beatAt = this.#studio.clock.now() + BEAT_EVERY
      this.#fail(cause)
      return false
    }
  }

  #writeIn(folder: Folder, session: Session, isMadeAnew: boolean): void {
    const { store, clock } = this.#studio
    const mask = this.#maskNow()
    this.#story ??= new Story(store.events(session.spec.id).map(({ event }) => event))
    if (this.#isStale) {
      this.#isStale = false
      const writing = { session, mask, story: this.#story, note: this.#note, written: this.#written }
      const note = writePages(folder, writing, this.#studio)
      if (note.state !== this.#note.state) this.#save(note)
      this.#events.onWritten(session, isMadeAnew)
    }
    if (clock.now() < this.#beatAt && session.phase.name === this.#phase) return
    this.#phase = session.phase.name
    this.#beatAt = clock.now() + BEAT_EVERY
    this.#heart.beat(folder, session, { mask, event: this.#story.events.at(-1) ?? null })
    this.#log.wake()
  }

  /** A folder that was taken away, and is made anew, knows nothing of what was written. */
  #inFolder(deed: (folder: Folder, isMadeAnew: boolean) => void): void {
    const folder = folderOf(this.#session, this.#studio)
    if (folder === null) return
    try {
      const isMadeAnew = this.#phase !== undefined && !fs.existsSync(folder.at('HEARTBEAT'))
      if (isMadeAnew) this.#beginAnew()
      deed(folder, isMadeAnew)
    } finally {
      folder.close()
    }
  }

  #beginAnew(): void {
    this.#written.clear()
    this.#heart.forget()
    this.#phase = undefined
    this.#isStale = true
  }

  async #finish(session: Session): Promise<void> {
    await this.#log.copyAll()
    const isStillSo = this.#session === session && this.#writeAt === undefined && !this.#closing.signal.aborted
    if (!isStillSo || session.phase.name !== 'ended') return
    this.#save({ ...this.#note, endedAt: session.phase.at })
    this.#events.onFinished(session)
  }

  /** An environment changes only between attempts. */
  #maskNow(): Mask {
    const { attempt, spec } = this.#session
    if (this.#mask?.attempt !== attempt) {
      this.#mask = { attempt, mask: new Mask(secretsIn(this.#studio.environment(spec.id))) }
    }
    return this.#mask.mask
  }

  /** What it says is on its pages, too; with the next heartbeat is soon enough. */
  #noteLog(log: Note['log']): void {
    this.#isStale = true
    this.#save({ ...this.#note, log })
  }

  #save(note: Note): void {
    this.#note = note
    saveNote(this.#studio.home, this.#session.spec.id, note)
  }

  #fail(cause: unknown): void {
    if (!this.#closing.signal.aborted) this.#events.onTrouble(this.#session, cause)
  }
}
