import type { Session } from '../../core/session/session-state.ts'
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

function findNewest(project: string, agent: FolderHandle, context: WriterContext): Session | undefined {
  for (const session of context.store.inFolder(project))
    if (hasSessionFolder(agent, folderOwner(session))) return session
  return undefined
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
