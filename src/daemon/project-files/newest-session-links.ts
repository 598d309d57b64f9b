import type { Session } from '../../core/session/session.ts'
import type { Instant } from '../../lib/time.ts'
import {
  hasSessionFolder,
  openAgentFolder,
  removeAgentFolder,
  removeSessionFolder,
} from '../../world/project-files/agent-folder.ts'
import type { FolderHandle } from '../../os/files/folder-handle.ts'
import { linkTo, removeOldLinks } from '../../world/project-files/newest-links.ts'
import { folderOwner, type WriterContext } from './context.ts'

/** Points the links at the top of the project to this session's files. */
export function linkToSession({ spec }: Session, { home }: WriterContext): void {
  withAgentFolder(spec.cwd, agent => linkTo(agent, spec.name, home.sessions))
}

/** Points the links to the newest session of the project that has files, or removes them. */
export function linkToNewest(project: string, context: WriterContext): void {
  withAgentFolder(project, agent =>
    linkTo(agent, findNewest(project, agent, context)?.spec.name ?? null, context.home.sessions),
  )
}

/** Removes all files about a session from its project, including the links of earlier versions. */
export function removeSessionFiles(session: Session, context: WriterContext): void {
  const { cwd, id } = session.spec
  const { sessions } = context.home
  removeSessionFolder(folderOwner(session))
  withAgentFolder(cwd, agent => removeOldLinks(agent, { sessions, id }))
  linkToNewest(cwd, context)
  removeAgentFolder(cwd)
}

/** Returns the time at which the session started or last woke. */
export function lastStartedAt({ spec }: Session, { store }: Pick<WriterContext, 'store'>): Instant {
  const woken = store.events(spec.id).findLast(({ event }) => event.type === 'session.woken')
  return woken?.event.at ?? spec.createdAt
}

function findNewest(project: string, agent: FolderHandle, context: WriterContext): Session | undefined {
  const sessions = context.store.all().filter(({ spec }) => spec.cwd === project)
  const withFolder = sessions.filter(session => hasSessionFolder(agent, folderOwner(session)))
  return withFolder.map(session => ({ session, at: lastStartedAt(session, context) })).sort((a, b) => b.at - a.at)[0]
    ?.session
}

function withAgentFolder(project: string, action: (agent: FolderHandle) => void): void {
  const agent = openAgentFolder(project)
  if (agent === null) return
  try {
    action(agent)
  } finally {
    agent.close()
  }
}
