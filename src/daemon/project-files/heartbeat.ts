import type { Event } from '../../core/session/events.ts'
import type { Session } from '../../core/session/session-state.ts'
import { maskObject } from '../../lib/mask/mask.ts'
import type { Mask } from '../../lib/mask/mask.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import type { Clock } from '../../ports/clock.ts'
import { renderHeartbeat, parseLastHeartbeat } from '../../views/project-files/heartbeat-line.ts'
import { type HeartbeatStats, readHeartbeatStats } from '../../views/process-stats.ts'
import { replaceIn } from '../../os/files/file-io.ts'
import { attemptFolder } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { readShim } from '../../state/shim-records.ts'
import type { FolderHandle } from '../../os/files/folder-handle.ts'
import { appendSafely, readSafely } from '../../world/project-files/safe-file.ts'

export const HEARTBEAT_INTERVAL: Duration = 30_000
/** Milliseconds after which a heartbeat counts as missed. */
const GAP_AFTER: Duration = 45_000
const HEARTBEAT_FILE = 'HEARTBEAT'
/** One hour of heartbeats. Beyond that, the writer removes the oldest lines, several at a time. */
const MAX_LINES = 120
const KEPT_LINES = 100

/** Writes a session's heartbeats. */
export class Heartbeat {
  readonly #context: { readonly home: Home; readonly clock: Clock }
  #cgroup: { readonly attempt: number; readonly path: string | null } | undefined
  #lastBeat: { readonly at: Instant; readonly awake: Duration } | undefined
  /** Number of lines in the file; undefined before the first read. */
  #lines: number | undefined

  constructor(context: { home: Home; clock: Clock }) {
    this.#context = context
  }

  /**
   * Appends a line, and returns its statistics. Creates the file if there was none so far; if the file has disappeared
   * since, writes nothing and returns null.
   */
  write(
    folder: FolderHandle,
    session: Session,
    { event, mask }: { event: Event | null; mask: Mask },
  ): HeartbeatStats | null {
    const { clock, home } = this.#context
    const at = clock.now()
    const before = this.#lines === undefined ? this.#readLastTime(folder) : null
    const { phase } = session
    const state = phase.name === 'ended' ? phase.outcome : phase.name
    const stats = readHeartbeatStats(session, home, this.#readCgroupPath(session))
    const line = renderHeartbeat({ at, state, stats, event: maskObject(event, mask), gap: this.#findGap(at, before) })
    if (!this.#append(folder, mask.maskText(line))) return null
    this.#lastBeat = { at, awake: clock.monotonic() }
    return stats
  }

  /** Makes the next write create the file again. */
  reset(): void {
    this.#lines = undefined
  }

  #append(folder: FolderHandle, line: string): boolean {
    const count = this.#lines ?? 0
    if (count > 0 && count < MAX_LINES) {
      if (!appendSafely(folder, HEARTBEAT_FILE, line)) return false
      this.#lines = count + 1
      return true
    }
    const lines = [...readLines(folder).slice(1 - KEPT_LINES), line]
    replaceIn(folder, HEARTBEAT_FILE, lines.join(''))
    this.#lines = lines.length
    return true
  }

  /** Returns the time of the last heartbeat of an earlier supervisor. */
  #readLastTime(folder: FolderHandle): Instant | null {
    const lines = readLines(folder)
    this.#lines = lines.length
    return parseLastHeartbeat(lines.at(-1) ?? '')
  }

  #findGap(at: Instant, before: Instant | null): { length: Duration; reason: string } | null {
    const from = this.#lastBeat?.at ?? before
    if (from === null || at - from <= GAP_AFTER) return null
    const length = at - from
    if (this.#lastBeat === undefined) return { length, reason: 'no supervisor was running' }
    const awake = this.#context.clock.monotonic() - this.#lastBeat.awake
    return { length, reason: awake < length / 2 ? 'the machine was asleep' : 'the supervisor was delayed' }
  }

  /** Reads the path once per attempt, because it does not change. */
  #readCgroupPath({ spec, attempt: { number: attempt, process: identity } }: Session): string | null {
    if (identity === null) return null
    if (this.#cgroup?.attempt !== attempt) {
      this.#cgroup = { attempt, path: readShim(attemptFolder(this.#context.home, spec.id, attempt))?.group ?? null }
    }
    return this.#cgroup.path
  }
}

function readLines(folder: FolderHandle): string[] {
  return readSafely(folder, HEARTBEAT_FILE).match(/(?<![^\n])[^\n]*\n/g) ?? []
}
