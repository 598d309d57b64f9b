import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { type Session, isIdle } from '../../core/session/session-state.ts'
import type { DutyCycle } from '../../os/duty-cycle.ts'
import type { Agent } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Home } from '../../state/home.ts'
import { type Owner, openSessionFolder } from '../../world/project-files/agent-folder.ts'
import type { FolderHandle } from '../../os/files/folder-handle.ts'
import type { OutputState } from '../../world/project-files/read-log-chunk.ts'
import { readProgress } from './progress-record.ts'

/** The parts that all writers of project files share. */
export interface WriterContext {
  readonly home: Home
  readonly store: Pick<Store, 'load' | 'unsettled' | 'inFolder' | 'live' | 'events' | 'assertEpoch'>
  readonly clock: Clock
  readonly agents: (kind: string) => Agent
  /** Returns the stored environment of a session. */
  readonly environment: (sessionId: SessionId) => Readonly<Record<string, string>>
  /** These duty cycles write pages, and copy pieces of logs, one at a time. */
  readonly writing: DutyCycle
  readonly copying: DutyCycle
}

export function folderOwner({ spec }: Session): Owner {
  return { project: spec.cwd, name: spec.name, id: spec.id }
}

/**
 * Opens a session's folder in its project. If several sessions have one name, the one that started or woke last owns
 * the folder. A folder without a readable owner belongs to the session that has written there before.
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

/** Describes the output from which the copier writes a session's log. */
export function describeOutput(session: Session, { agents }: Pick<WriterContext, 'agents'>): OutputState {
  const { spec, phase, transcriptLength } = session
  const { number: attempt } = session.attempt
  const hasTranscript = agents(spec.agent).readLine !== undefined
  const isOver = phase.name === 'ended' || isIdle(session)
  return { id: spec.id, attempt, transcript: hasTranscript ? transcriptLength : null, isOver }
}
