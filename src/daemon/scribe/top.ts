import type { Session } from '../../core/session.ts'
import type { Instant } from '../../lib/time.ts'
import {
  hasSessionFolder,
  openAgentFolder,
  removeAgentFolder,
  removeSessionFolder,
} from '../../world/project/agent-folder.ts'
import type { Folder } from '../../world/os/open-folder.ts'
import { leadTo, removeOldLinks } from '../../world/project/top-links.ts'
import { ownerOf, type Studio } from './studio.ts'

/** Has the links at the top of its project lead to this session's files. */
export function leadToSession({ spec }: Session, { home }: Studio): void {
  inProject(spec.cwd, agent => leadTo(agent, spec.name, home.sessions))
}

/** Has them lead to the newest of the project's sessions that have files, or to none. */
export function leadToNewest(project: string, studio: Studio): void {
  inProject(project, agent => leadTo(agent, newestIn(project, agent, studio)?.spec.name ?? null, studio.home.sessions))
}

/** Takes away all that tells of a session in its project, and what earlier versions left there. */
export function removeFiles(session: Session, studio: Studio): void {
  const { cwd, id } = session.spec
  const { sessions } = studio.home
  removeSessionFolder(ownerOf(session))
  inProject(cwd, agent => removeOldLinks(agent, { sessions, id }))
  leadToNewest(cwd, studio)
  removeAgentFolder(cwd)
}

/** When a session was accepted, or woken last. */
export function begunAt({ spec }: Session, { store }: Pick<Studio, 'store'>): Instant {
  const woken = store.events(spec.id).findLast(({ event }) => event.type === 'session.woken')
  return woken?.event.at ?? spec.createdAt
}

function newestIn(project: string, agent: Folder, studio: Studio): Session | undefined {
  const here = studio.store.all().filter(({ spec }) => spec.cwd === project)
  const shown = here.filter(session => hasSessionFolder(agent, ownerOf(session)))
  return shown.map(session => ({ session, at: begunAt(session, studio) })).sort((a, b) => b.at - a.at)[0]?.session
}

function inProject(project: string, deed: (agent: Folder) => void): void {
  const agent = openAgentFolder(project)
  if (agent === null) return
  try {
    deed(agent)
  } finally {
    agent.close()
  }
}
