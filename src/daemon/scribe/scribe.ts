import { setTimeout as pause } from 'node:timers/promises'
import type { Event } from '../../core/events.ts'
import type { Session } from '../../core/session.ts'
import { Pace } from '../../lib/pace.ts'
import type { Duration } from '../../lib/time.ts'
import { wordsOf } from '../../lib/trouble.ts'
import { Superseded } from '../../ports/store.ts'
import { Desk } from './desk.ts'
import { BEAT_EVERY } from './heart.ts'
import { readNote } from './note.ts'
import type { Studio } from './studio.ts'
import { begunAt, leadToNewest, leadToSession, removeFiles } from './top.ts'

/** How a folder that is held on to is named; to people that says nothing. */
const HELD = /\/proc\/self\/fd\/\d+\//g

/** After each page or piece we rest so many times as long as it took. */
const REST = { writing: 4, copying: 3 }
/** So many take a millisecond. */
const BEATS_AT_ONCE = 10
/** How long a supervisor that leaves still writes; the next one goes on with the rest. */
const LAST_WORDS: Duration = 1_000

/** What a scribe needs of its house. */
export type Place = Omit<Studio, 'writing' | 'copying'> & {
  readonly say: (sentence: string) => void
  readonly onTrouble: (sessionId: string, cause: unknown) => void
}

/**
 * Keeps the files about each session in its project up to date. Nothing depends on them: whatever goes wrong with them is noted
 * once, and harms nobody's work.
 */
export class Scribe {
  readonly #place: Place
  readonly #studio: Studio
  readonly #desks = new Map<string, Desk>()
  /** Sessions that the links at the top of their projects are to lead to, once their pages are there. */
  readonly #newest = new Set<string>()
  readonly #lamented = new Set<string>()
  /** Sessions whose files were taken away. */
  readonly #gone = new Set<string>()
  #isOver = false
  #cancel: () => void = () => undefined

  constructor(place: Place) {
    this.#place = place
    this.#studio = { ...place, writing: new Pace(REST.writing), copying: new Pace(REST.copying) }
  }

  /** Takes up what whoever was here before did not live to write. */
  async start(): Promise<void> {
    const { store, clock } = this.#place
    this.#beatLater()
    for (const session of store.all()) {
      if (this.#isUntold(session)) this.follow(store.load(session.spec.id) ?? session)
      await clock.breathe()
    }
    for (const project of new Set(this.#sessions().map(({ spec }) => spec.cwd))) this.#orderTop(project)
  }

  /** A session is like this now. */
  follow(session: Session): void {
    if (this.#isToBeShown(session)) this.#deskOf(session).tell(session)
  }

  /** This became true of it. */
  note(session: Session, event: Event): void {
    if (event.type === 'session.woken') this.#gone.delete(session.spec.id)
    if (!this.#isToBeShown(session)) return
    this.#deskOf(session).add(event)
    if (event.type === 'session.created' || event.type === 'session.woken') this.#newest.add(session.spec.id)
  }

  /** Takes a session's files away, before it is forgotten itself. */
  async remove(session: Session): Promise<void> {
    const { id } = session.spec
    this.#gone.add(id)
    await this.#desks.get(id)?.close()
    this.#desks.delete(id)
    this.#attempt(session, () => removeFiles(session, this.#studio))
    this.#lamented.delete(id)
  }

  /** Writes what there is to be written, within reason, and then nothing more. */
  async close(): Promise<void> {
    this.#isOver = true
    this.#cancel()
    this.#studio.writing.hurry()
    this.#studio.copying.hurry()
    const desks = [...this.#desks.values()]
    await Promise.race([Promise.all(desks.map(desk => desk.flush())), pause(LAST_WORDS, undefined, { ref: false })])
    await Promise.all(desks.map(desk => desk.close()))
  }

  #beatLater(): void {
    const { clock } = this.#place
    this.#cancel = clock.ring(clock.now() + BEAT_EVERY, () => void this.#beatAll())
  }

  /** One round for all: a timer for each would cost as much as its line. */
  async #beatAll(): Promise<void> {
    const { store, clock } = this.#place
    this.#beatLater()
    try {
      for (const [index, desk] of [...this.#desks.values()].entries()) {
        if (index % BEATS_AT_ONCE === 0) {
          await clock.breathe()
          if (this.#isOver) return
          store.assertEpoch()
        }
        desk.beat()
      }
    } catch (cause) {
      this.#giveWay(cause)
    }
  }

  /** Not those that ended before there were such files. */
  #isUntold({ spec, phase }: Session): boolean {
    if (this.#desks.has(spec.id)) return false
    const note = phase.name === 'ended' ? readNote(this.#place.home, spec.id) : undefined
    return phase.name !== 'ended' || (note !== undefined && note.endedAt !== phase.at)
  }

  #isToBeShown({ spec }: Session): boolean {
    return !this.#isOver && spec.projectFiles !== false && !this.#gone.has(spec.id)
  }

  #sessions(): Session[] {
    return [...this.#desks.values()].map(desk => desk.session)
  }

  /** Whoever was here before may have been killed between a session's beginning and its links. */
  #orderTop(project: string): void {
    const here = this.#sessions().filter(({ spec }) => spec.cwd === project)
    const begun = here.map(session => ({ session, at: begunAt(session, this.#studio) })).sort((a, b) => b.at - a.at)
    const newest = begun[0]?.session
    if (newest === undefined) return
    if (newest.phase.name === 'ended') this.#attempt(newest, () => leadToNewest(project, this.#studio))
    else this.#newest.add(newest.spec.id)
  }

  #deskOf(session: Session): Desk {
    const { id } = session.spec
    const known = this.#desks.get(id)
    if (known !== undefined) return known
    const desk: Desk = new Desk(session, this.#studio, {
      onWritten: (written, { isMadeAnew }) => this.#onWritten(written, isMadeAnew),
      onFinished: () => this.#dismiss(id, desk),
      onTrouble: (troubled, cause) => this.#lament(troubled, cause),
    })
    this.#desks.set(id, desk)
    return desk
  }

  #dismiss(id: string, desk: Desk): void {
    if (this.#desks.get(id) === desk) this.#desks.delete(id)
    void desk.close()
  }

  #onWritten(session: Session, isMadeAnew: boolean): void {
    this.#lamented.delete(session.spec.id)
    if (this.#newest.delete(session.spec.id)) leadToSession(session, this.#studio)
    else if (isMadeAnew) leadToNewest(session.spec.cwd, this.#studio)
  }

  #attempt(session: Session, deed: () => void): void {
    try {
      deed()
    } catch (cause) {
      this.#lament(session, cause)
    }
  }

  /** To another supervisor, who writes from now on. */
  #giveWay(cause: unknown): void {
    if (!(cause instanceof Superseded)) return
    this.#isOver = true
    this.#place.onTrouble('', cause)
  }

  /** Once for each session, until it goes well again. */
  #lament({ spec }: Session, cause: unknown): void {
    this.#giveWay(cause)
    if (this.#isOver || this.#lamented.has(spec.id)) return
    this.#lamented.add(spec.id)
    this.#place.say(`${spec.name} cannot write its files in ${spec.cwd}: ${wordsOf(cause).replaceAll(HELD, '')}`)
  }
}
