import fs from 'node:fs'
import type { Event } from '../../core/session/events.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { PhaseName, Session } from '../../core/session/session-state.ts'
import { findEnvSecrets } from '../../lib/mask/env-secrets.ts'
import { Mask } from '../../lib/mask/mask.ts'
import type { Instant } from '../../lib/time.ts'
import type { HeartbeatStats } from '../../views/process-stats.ts'
import { sessionFolder } from '../../state/session-folder.ts'
import { removeTemporaryFiles, reopenSessionFolder } from '../../world/project-files/agent-folder.ts'
import type { FolderHandle } from '../../os/files/folder-handle.ts'
import { Heartbeat } from './heartbeat.ts'
import { type Progress, readProgress, saveProgress } from './progress-record.ts'
import { RecentEvents } from './pages.ts'
import { openSessionFiles, folderOwner, type WriterContext } from './context.ts'
import { writePages } from './pages.ts'

/** The outcome of a write. */
export interface WriteResult {
  /** True when the pages exist, so that links can point to them. */
  readonly isWritten: boolean
  /** True when somebody had removed the folder and this write created it again. */
  readonly isRecreated: boolean
}

/** Writes the files of one session: its pages, its heartbeats, and the record of progress. */
export class SessionFiles {
  readonly #context: WriterContext
  readonly #id: SessionId
  readonly #heartbeat: Heartbeat
  readonly #pages = new Map<string, string>()
  readonly #secrets = new Set<string>()
  #recentEvents: RecentEvents | undefined
  #cachedProgress: Progress | undefined
  #mask: { readonly attempt: number; readonly mask: Mask } | undefined
  #trackerModifiedAt: Instant | undefined
  /** The phase in the last heartbeat; undefined before the first one. */
  #phase: PhaseName | undefined

  constructor(id: SessionId, context: WriterContext) {
    this.#context = context
    this.#id = id
    this.#heartbeat = new Heartbeat(context)
  }

  get progress(): Progress {
    this.#cachedProgress ??= readProgress(this.#context.home, this.#id) ?? { log: null, state: null, endedAt: null }
    return this.#cachedProgress
  }

  saveProgress(changes: Partial<Progress>): void {
    this.#cachedProgress = { ...this.progress, ...changes }
    saveProgress(this.#context.home, this.#id, this.#cachedProgress)
  }

  /** Adds a new event. Before the first write this does nothing, because that write reads all events from the store. */
  addEvent(event: Event): void {
    this.#recentEvents?.add(event)
  }

  /**
   * Returns the mask for this attempt. The environment changes only between attempts; the secrets of earlier attempts
   * stay masked.
   */
  maskFor({ attempt: { number: attempt } }: Session): Mask {
    if (this.#mask?.attempt !== attempt) {
      for (const secret of findEnvSecrets(this.#context.environment(this.#id))) this.#secrets.add(secret)
      this.#mask = { attempt, mask: new Mask([...this.#secrets]) }
    }
    return this.#mask.mask
  }

  /** Writes the pages, and a heartbeat if it is due or the phase has changed. */
  write(session: Session, { isBeatDue: isHeartbeatDue }: { isBeatDue: boolean }): WriteResult {
    const folder = openSessionFiles(session, this.#context)
    if (folder === null) return { isWritten: false, isRecreated: false }
    try {
      const isRecreated = this.#phase !== undefined && !isFile(folder.at('HEARTBEAT'))
      if (isRecreated) this.#reset()
      if (this.#phase === undefined) removeTemporaryFiles(folder)
      this.#writePages(folder, session)
      if (isHeartbeatDue || session.phase.name !== this.#phase) this.#forceHeartbeat(folder, session)
      return { isWritten: true, isRecreated }
    } finally {
      folder.close()
    }
  }

  /** Returns true when the tracker file has changed since the last pages. */
  get hasTrackerChanged(): boolean {
    return (
      this.#trackerModifiedAt !== undefined &&
      this.#trackerModifiedAt !== readTrackerModifiedAt(this.#context, this.#id)
    )
  }

  /** Appends a heartbeat to the existing file and does nothing else; returns null when there is no such file. */
  writeHeartbeat(session: Session): HeartbeatStats | null {
    const folder = this.#phase === undefined ? null : reopenSessionFolder(folderOwner(session))
    try {
      return folder === null ? null : this.#writeHeartbeatIn(folder, session)
    } finally {
      folder?.close()
    }
  }

  /** Forgets the written content after somebody has removed the folder. */
  #reset(): void {
    this.#pages.clear()
    this.#heartbeat.reset()
    this.#phase = undefined
  }

  #writePages(folder: FolderHandle, session: Session): void {
    const { store } = this.#context
    this.#recentEvents ??= new RecentEvents(store.events(this.#id).map(({ event }) => event))
    this.#trackerModifiedAt = readTrackerModifiedAt(this.#context, this.#id)
    const input = {
      session,
      story: this.#recentEvents,
      mask: this.maskFor(session),
      note: this.progress,
      written: this.#pages,
    }
    const { state } = writePages(folder, input, this.#context)
    if (state !== this.progress.state) this.saveProgress({ state })
  }

  #forceHeartbeat(folder: FolderHandle, session: Session): void {
    if (this.#writeHeartbeatIn(folder, session) !== null) return
    this.#heartbeat.reset() // Something else has replaced the file.
    this.#writeHeartbeatIn(folder, session)
  }

  #writeHeartbeatIn(folder: FolderHandle, session: Session): HeartbeatStats | null {
    this.#phase = session.phase.name
    return this.#heartbeat.write(folder, session, {
      mask: this.maskFor(session),
      event: this.#recentEvents?.events.at(-1) ?? null,
    })
  }
}

/** Returns 0 when there is no tracker file. */
function readTrackerModifiedAt({ home }: WriterContext, id: SessionId): Instant {
  return fs.statSync(sessionFolder(home, id).tracker, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function isFile(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
