import fs from 'node:fs'
import type { Event } from '../../core/events.ts'
import type { PhaseName, Session } from '../../core/session.ts'
import { secretsIn } from '../../lib/mask/env-secrets.ts'
import { Mask } from '../../lib/mask/mask.ts'
import type { Instant } from '../../lib/time.ts'
import type { Pulse } from '../../views/pulse.ts'
import { sessionFolder } from '../../world/os/folders.ts'
import { removeDrafts, reopenSessionFolder } from '../../world/project/agent-folder.ts'
import type { Folder } from '../../world/os/open-folder.ts'
import { Heart } from './heart.ts'
import { type Note, readNote, saveNote } from './note.ts'
import { Story } from './story.ts'
import { folderOf, ownerOf, type Studio } from './studio.ts'
import { writePages } from './write-pages.ts'

/** What was done about a session's files. */
export interface Written {
  /** Its pages were written: links can lead to them. */
  readonly isWritten: boolean
  /** Somebody had taken its folder away. */
  readonly isMadeAnew: boolean
}

/** Puts down what is known of one session: its pages, its heartbeats, and how far all of it was written. */
export class Pen {
  readonly #studio: Studio
  readonly #id: string
  readonly #heart: Heart
  readonly #pages = new Map<string, string>()
  readonly #secrets = new Set<string>()
  #story: Story | undefined
  #note: Note | undefined
  #mask: { readonly attempt: number; readonly mask: Mask } | undefined
  #trackerAt: Instant | undefined
  /** As the last heartbeat has told it; undefined before there was one. */
  #phase: PhaseName | undefined

  constructor(id: string, studio: Studio) {
    this.#studio = studio
    this.#id = id
    this.#heart = new Heart(studio)
  }

  get note(): Note {
    this.#note ??= readNote(this.#studio.home, this.#id) ?? { log: null, state: null, endedAt: null }
    return this.#note
  }

  save(news: Partial<Note>): void {
    this.#note = { ...this.note, ...news }
    saveNote(this.#studio.home, this.#id, this.#note)
  }

  /** This became true of it. Until something is written, nothing has to be kept in mind: it will be read then. */
  add(event: Event): void {
    this.#story?.add(event)
  }

  /** An environment changes only between attempts; what was secret in one stays so. */
  maskFor({ attempt }: Session): Mask {
    if (this.#mask?.attempt !== attempt) {
      for (const secret of secretsIn(this.#studio.environment(this.#id))) this.#secrets.add(secret)
      this.#mask = { attempt, mask: new Mask([...this.#secrets]) }
    }
    return this.#mask.mask
  }

  /** Writes the pages and, when it is due or the phase is another one, a heartbeat. */
  write(session: Session, { isBeatDue }: { isBeatDue: boolean }): Written {
    const folder = folderOf(session, this.#studio)
    if (folder === null) return { isWritten: false, isMadeAnew: false }
    try {
      const isMadeAnew = this.#phase !== undefined && !isFile(folder.at('HEARTBEAT'))
      if (isMadeAnew) this.#beginAnew()
      if (this.#phase === undefined) removeDrafts(folder)
      this.#writeIn(folder, session)
      if (isBeatDue || session.phase.name !== this.#phase) this.#beatAnyhow(folder, session)
      return { isWritten: true, isMadeAnew }
    } finally {
      folder.close()
    }
  }

  /** Whether its tracker has said something since its pages were written. */
  get hasNews(): boolean {
    return this.#trackerAt !== undefined && this.#trackerAt !== trackerTime(this.#studio, this.#id)
  }

  /** Adds a heartbeat to those that are there, and does nothing else; null when none are. */
  beat(session: Session): Pulse | null {
    const folder = this.#phase === undefined ? null : reopenSessionFolder(ownerOf(session))
    try {
      return folder === null ? null : this.#beatIn(folder, session)
    } finally {
      folder?.close()
    }
  }

  /** A folder that was taken away, and is made anew, knows nothing of what was written. */
  #beginAnew(): void {
    this.#pages.clear()
    this.#heart.forget()
    this.#phase = undefined
  }

  #writeIn(folder: Folder, session: Session): void {
    const { store } = this.#studio
    this.#story ??= new Story(store.events(this.#id).map(({ event }) => event))
    this.#trackerAt = trackerTime(this.#studio, this.#id)
    const writing = { session, story: this.#story, mask: this.maskFor(session), note: this.note, written: this.#pages }
    const { state } = writePages(folder, writing, this.#studio)
    if (state !== this.note.state) this.save({ state })
  }

  #beatAnyhow(folder: Folder, session: Session): void {
    if (this.#beatIn(folder, session) !== null) return
    this.#heart.forget() // Something else was put in the place of its file.
    this.#beatIn(folder, session)
  }

  #beatIn(folder: Folder, session: Session): Pulse | null {
    this.#phase = session.phase.name
    return this.#heart.beat(folder, session, { mask: this.maskFor(session), event: this.#story?.events.at(-1) ?? null })
  }
}

/** 0 when it has said nothing. */
function trackerTime({ home }: Studio, id: string): Instant {
  return fs.statSync(sessionFolder(home, id).tracker, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function isFile(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
