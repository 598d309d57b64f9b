import type { Event } from '../../core/events.ts'
import type { Session } from '../../core/session.ts'
import { hideWithin } from '../../lib/mask/hide-within.ts'
import type { Mask } from '../../lib/mask/mask.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import type { Clock } from '../../ports/clock.ts'
import { heartbeatLine, lastBeatIn } from '../../views/pages/heartbeat.ts'
import { type Pulse, pulseOf } from '../../views/pulse.ts'
import { replaceIn } from '../../world/os/files.ts'
import { attemptFolder } from '../../world/os/folders.ts'
import type { Home } from '../../world/os/home.ts'
import { readShim } from '../../world/os/spool.ts'
import type { Folder } from '../../world/os/open-folder.ts'
import { appendTo, readIn } from '../../world/project/own-file.ts'

export const BEAT_EVERY: Duration = 30_000
/** Later than this a beat was missed. */
const LATE: Duration = 45_000
const FILE = 'HEARTBEAT'
/** An hour. When there are more, the oldest ones go, several at a time. */
const MOST_LINES = 120
const KEPT_LINES = 100

/** Writes a session's heartbeats. */
export class Heart {
  readonly #place: { readonly home: Home; readonly clock: Clock }
  #group: { readonly attempt: number; readonly path: string | null } | undefined
  #last: { readonly at: Instant; readonly awake: Duration } | undefined
  /** How many there are in the file; unknown until it was read. */
  #lines: number | undefined

  constructor(place: { home: Home; clock: Clock }) {
    this.#place = place
  }

  /**
   * Adds a line, and answers what it tells of. The file is made where there is none, unless it was there before: then null, and
   * nothing was written.
   */
  beat(folder: Folder, session: Session, { event, mask }: { event: Event | null; mask: Mask }): Pulse | null {
    const { clock, home } = this.#place
    const at = clock.now()
    const before = this.#lines === undefined ? this.#readLast(folder) : null
    const { phase } = session
    const state = phase.name === 'ended' ? phase.outcome : phase.name
    const pulse = pulseOf(session, home, this.#groupOf(session))
    const line = heartbeatLine({ at, state, pulse, event: hideWithin(event, mask), gap: this.#gap(at, before) })
    if (!this.#add(folder, mask.hide(line))) return null
    this.#last = { at, awake: clock.awake() }
    return pulse
  }

  /** The file is no longer there: it will be made again. */
  forget(): void {
    this.#lines = undefined
  }

  #add(folder: Folder, line: string): boolean {
    const count = this.#lines ?? 0
    if (count > 0 && count < MOST_LINES) {
      if (!appendTo(folder, FILE, line)) return false
      this.#lines = count + 1
      return true
    }
    const lines = [...linesIn(folder).slice(1 - KEPT_LINES), line]
    replaceIn(folder, FILE, lines.join(''))
    this.#lines = lines.length
    return true
  }

  /** When the last one was written, by whoever was there before. */
  #readLast(folder: Folder): Instant | null {
    const lines = linesIn(folder)
    this.#lines = lines.length
    return lastBeatIn(lines.at(-1) ?? '')
  }

  #gap(at: Instant, before: Instant | null): { length: Duration; reason: string } | null {
    const from = this.#last?.at ?? before
    if (from === null || at - from <= LATE) return null
    const length = at - from
    if (this.#last === undefined) return { length, reason: 'no supervisor was running' }
    const awake = this.#place.clock.awake() - this.#last.awake
    return { length, reason: awake < length / 2 ? 'the machine was asleep' : 'the supervisor was delayed' }
  }

  /** Asked once for each attempt: it stays the same. */
  #groupOf({ spec, attempt, life }: Session): string | null {
    if (life === null) return null
    if (this.#group?.attempt !== attempt) {
      this.#group = { attempt, path: readShim(attemptFolder(this.#place.home, spec.id, attempt))?.group ?? null }
    }
    return this.#group.path
  }
}

function linesIn(folder: Folder): string[] {
  return readIn(folder, FILE).match(/(?<![^\n])[^\n]*\n/g) ?? []
}
