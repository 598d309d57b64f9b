import { isIdle, type Session } from '../../core/session.ts'
import type { Pace } from '../../lib/pace.ts'
import type { Agent } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Home } from '../../world/os/home.ts'
import { openSessionFolder, type Owner } from '../../world/project/agent-folder.ts'
import type { Folder } from '../../world/os/open-folder.ts'
import type { Told } from '../../world/project/next-piece.ts'
import { readNote } from './note.ts'

/** What all who write in projects share. */
export interface Studio {
  readonly home: Home
  readonly store: Pick<Store, 'load' | 'all' | 'live' | 'events' | 'assertEpoch'>
  readonly clock: Clock
  readonly agents: (kind: string) => Agent
  /** The environment that was laid down with a session. */
  readonly environment: (sessionId: string) => Readonly<Record<string, string>>
  /** Pages are written and pieces of logs copied one at a time. */
  readonly writing: Pace
  readonly copying: Pace
}

export function ownerOf({ spec }: Session): Owner {
  return { project: spec.cwd, name: spec.name, id: spec.id }
}

/**
 * Opens a session's folder in its project. Of several sessions with one name the one has it that was accepted or woken last.
 * A folder that no longer says whose it is belongs to whoever has written there before.
 */
export function folderOf(session: Session, { store, home }: Pick<Studio, 'store' | 'home'>): Folder | null {
  const { id } = session.spec
  return openSessionFolder(ownerOf(session), owner =>
    owner === null ? readNote(home, id) !== undefined : (store.load(owner)?.clockSince ?? 0) <= session.clockSince,
  )
}

/** What there is to be read of a session's log. */
export function toldBy(session: Session, { agents }: Pick<Studio, 'agents'>): Told {
  const { spec, attempt, phase, bookmark } = session
  const hasTranscript = agents(spec.agent).read !== undefined
  const isOver = phase.name === 'ended' || isIdle(session)
  return { id: spec.id, attempt, transcript: hasTranscript ? bookmark.transcript : null, isOver }
}
