import { type Session, isIdle } from '../../core/session/session.ts'
import type { DutyCycle } from '../../lib/duty-cycle.ts'
import type { Agent } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Home } from '../../state/home.ts'
import { type Owner, openSessionFolder } from '../../world/project-files/agent-folder.ts'
import type { FolderHandle } from '../../os/files/folder-handle.ts'
import type { OutputState } from '../../world/project-files/read-log-chunk.ts'
import fs from 'node:fs'
import type { Instant } from '../../lib/time.ts'
import { hasCode } from '../../lib/errors.ts'
import { sessionFolder } from '../../state/session-folder.ts'
import type { LogProgress } from '../../world/project-files/session-log.ts'

/** What all who write in projects share. */
export interface WriterContext {
  readonly home: Home
  readonly store: Pick<Store, 'load' | 'all' | 'live' | 'events' | 'assertEpoch'>
  readonly clock: Clock
  readonly agents: (kind: string) => Agent
  /** The environment that was laid down with a session. */
  readonly environment: (sessionId: string) => Readonly<Record<string, string>>
  /** Pages are written and pieces of logs copied one at a time. */
  readonly writing: DutyCycle
  readonly copying: DutyCycle
}

export function folderOwner({ spec }: Session): Owner {
  return { project: spec.cwd, name: spec.name, id: spec.id }
}

/**
 * Opens a session's folder in its project. Of several sessions with one name the one has it that was accepted or woken last.
 * A folder that no longer says whose it is belongs to whoever has written there before.
 */
export function openSessionFiles(
  session: Session,
  { store, home }: Pick<WriterContext, 'store' | 'home'>,
): FolderHandle | null {
  const { id } = session.spec
  return openSessionFolder(folderOwner(session), owner =>
    owner === null ? readProgress(home, id) !== undefined : (store.load(owner)?.clockSince ?? 0) <= session.clockSince,
  )
}

/** What there is to be read of a session's log. */
export function describeOutput(session: Session, { agents }: Pick<WriterContext, 'agents'>): OutputState {
  const { spec, attempt, phase, bookmark } = session
  const hasTranscript = agents(spec.agent).readLine !== undefined
  const isOver = phase.name === 'ended' || isIdle(session)
  return { id: spec.id, attempt, transcript: hasTranscript ? bookmark.transcript : null, isOver }
}

/** How far the files of a session in its project were written. It lies in the state folder, out of everybody's reach. */
export interface Progress {
  /** Null before anything was. */
  readonly log: LogProgress | null
  /** The hash of its tasks, and since when it is that. */
  readonly state: { readonly hash: string; readonly at: Instant } | null
  /** The end of the session for which everything was written; null before it has one. */
  readonly endedAt: Instant | null
}

const NO_PROGRESS: Progress = { log: null, state: null, endedAt: null }

/** Undefined when nothing was ever written for this session. One that cannot be read is begun again. */
export function readProgress(home: Home, id: string): Progress | undefined {
  try {
    return {
      ...NO_PROGRESS,
      ...(JSON.parse(fs.readFileSync(sessionFolder(home, id).project, 'utf8')) as Partial<Progress>),
    }
  } catch (cause) {
    return hasCode(cause, 'ENOENT') ? undefined : NO_PROGRESS
  }
}

/** Notes are of one length, so that one call replaces one by the next. */
const RECORD_LENGTH = 640

/**
 * Written over the one before, which takes a twentieth of the time of putting another file in its place: a kill leaves the one
 * or the other. After a power cut it may not fit to what was written: then the log is found too short, and written again.
 */
export function saveProgress(home: Home, id: string, progress: Progress): void {
  const fd = fs.openSync(sessionFolder(home, id).project, fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o600)
  try {
    fs.writeSync(fd, `${JSON.stringify(progress).padEnd(RECORD_LENGTH)}\n`, 0)
  } finally {
    fs.closeSync(fd)
  }
}
