import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/trouble.ts'
import { fileOfDraft, replaceIn } from '../os/files.ts'
import { hideFromGit } from '../os/hide-from-git.ts'
import { type Folder, openFolder } from '../os/open-folder.ts'
import { objectionTo, readIn } from './own-file.ts'

/** The folder for people and agents who look into a project. */
export const AGENT_FOLDER = '.agent'

/** What each session has there; at the top are links to those of the newest. */
export const FILES: readonly string[] = [
  'STATUS.md',
  'HEARTBEAT',
  'CHECKPOINTS.md',
  'session.log',
  'LAST_STATE.md',
  'RECOVERY.md',
]

/** Says whose folder it is, and that it is ours. */
const MARKER = '.session'

/** Keeps our files out of packages: npm and search tools read ignore files, and not `.git/info/exclude`. */
const IGNORE = '.gitignore'
const IGNORE_ALL = '# Made by oneshot: nothing in here is part of the project.\n*\n'

/** Whose files, and in which project. */
export interface Owner {
  readonly project: string
  readonly name: string
  readonly id: string
}

/**
 * Opens the folder of a project. Null when there is none, or a file or link in its place, which is left alone. Throws when others
 * could change what is in it: people paste commands from there.
 */
export function openAgentFolder(project: string): Folder | null {
  return openOurs(path.join(project, AGENT_FOLDER), AGENT_FOLDER)
}

function openOurs(place: string, name: string): Folder | null {
  const folder = openFolder(place)
  const objection = folder === null ? null : objectionTo(folder.stat())
  if (objection === null) return folder
  folder?.close()
  throw new Error(`${name} is not used: ${objection}`)
}

/** Whether a file or a link is in the place of a project's folder. */
export function isTaken(project: string): boolean {
  const found = fs.lstatSync(path.join(project, AGENT_FOLDER), { throwIfNoEntry: false })
  return found !== undefined && !found.isDirectory()
}

/**
 * Opens the folder of a session, and makes it first where there is none. One that another session of the same name left, or
 * that does not say whose it is, is taken over if it may be. Null when something is in its place that is to be left alone.
 */
export function openSessionFolder(owner: Owner, mayTake: (id: string | null) => boolean): Folder | null {
  const agent = openAgentFolder(owner.project) ?? makeAgentFolder(owner.project)
  if (agent === null) return null
  try {
    const folder = openOurs(agent.at(owner.name), `${AGENT_FOLDER}/${owner.name}`)
    if (folder === null) return isThere(agent.at(owner.name)) ? null : makeSessionFolder(agent, owner)
    return settle(folder, { owner, agent }, mayTake)
  } finally {
    agent.close()
  }
}

/** Opens it again, for whoever has seen whose it is; null when it is not there. */
export function reopenSessionFolder({ project, name }: Owner): Folder | null {
  const agent = openAgentFolder(project)
  try {
    return agent === null ? null : openOurs(agent.at(name), `${AGENT_FOLDER}/${name}`)
  } finally {
    agent?.close()
  }
}

function makeAgentFolder(project: string): Folder | null {
  const place = path.join(project, AGENT_FOLDER)
  if (isThere(place)) return null
  hideFromGit(project, [`${AGENT_FOLDER}/`])
  fs.mkdirSync(place, { mode: 0o700 })
  return openAgentFolder(project)
}

/**
 * Keeps our files out of git and of packages. A project may have a folder of this name for itself and track it: there we hide
 * nothing but our own files. Each session's folder has an ignore file of its own in any case.
 */
function hide(agent: Folder, project: string): void {
  if (isShared(agent))
    return hideFromGit(
      project,
      FILES.map(file => `${AGENT_FOLDER}/${file}`),
    )
  hideFromGit(project, [`${AGENT_FOLDER}/`])
  if (!isThere(agent.at(IGNORE))) replaceIn(agent, IGNORE, IGNORE_ALL)
}

/** Whether somebody else keeps files in it, and kept them before we came. */
function isShared(agent: Folder): boolean {
  if (readIn(agent, IGNORE) === IGNORE_ALL) return false
  return fs.readdirSync(agent.at('.')).some(name => !isOursAtTop(agent, name))
}

function isOursAtTop(agent: Folder, name: string): boolean {
  if (FILES.includes(name) || isDraft(name) || name === 'worktrees') return true
  return fs.existsSync(agent.at(`${name}/${MARKER}`)) || name.endsWith('.log')
}

/** Removes the folder of a project, unless there is anything but what we have put there. */
export function removeAgentFolder(project: string): void {
  const agent = openAgentFolder(project)
  if (agent === null) return
  try {
    const isBare = fs.readdirSync(agent.at('.')).every(name => name === IGNORE)
    if (isBare && readIn(agent, IGNORE) === IGNORE_ALL) removeFile(agent, IGNORE)
  } finally {
    agent.close()
  }
  removeIfEmpty(path.join(project, AGENT_FOLDER))
}

function makeSessionFolder(agent: Folder, owner: Owner): Folder | null {
  hide(agent, owner.project)
  fs.mkdirSync(agent.at(owner.name), { mode: 0o700 })
  const folder = openOurs(agent.at(owner.name), `${AGENT_FOLDER}/${owner.name}`)
  return folder === null ? null : settle(folder, { owner, agent }, () => false)
}

function settle(
  folder: Folder,
  { owner: { id, project }, agent }: { owner: Owner; agent: Folder },
  mayTake: (id: string | null) => boolean,
): Folder | null {
  const owner = ownerOf(folder)
  if (owner === id) {
    // There may be a repository by now, or somebody has removed an ignore file.
    hide(agent, project)
    if (!isThere(folder.at(IGNORE))) replaceIn(folder, IGNORE, IGNORE_ALL)
    return folder
  }
  const isFree = owner === null && FILES.every(file => !isThere(folder.at(file)))
  if (!isFree && !mayTake(owner)) {
    folder.close()
    return null
  }
  hide(agent, project)
  empty(folder)
  replaceIn(folder, IGNORE, IGNORE_ALL)
  replaceIn(folder, MARKER, id)
  return folder
}

/** Removes what a session has in its project; the folder too, unless somebody has put something else into it. */
export function removeSessionFolder({ project, name, id }: Owner): void {
  const agent = openAgentFolder(project)
  if (agent === null) return
  try {
    const folder = openFolder(agent.at(name))
    if (folder === null) return
    try {
      if (ownerOf(folder) !== id) return
      empty(folder)
    } finally {
      folder.close()
    }
    removeIfEmpty(agent.at(name))
  } finally {
    agent.close()
  }
}

/** Whether this session has a folder there. */
export function hasSessionFolder(agent: Folder, { name, id }: Owner): boolean {
  const folder = openFolder(agent.at(name))
  if (folder === null) return false
  try {
    return ownerOf(folder) === id
  } finally {
    folder.close()
  }
}

/** Removes drafts that a killed supervisor has left; those of this process are younger than it. */
export function removeDrafts(folder: Folder): void {
  for (const name of fs.readdirSync(folder.at('.')).filter(isDraft)) {
    const stat = fs.lstatSync(folder.at(name), { throwIfNoEntry: false })
    if (stat !== undefined && stat.mtimeMs < performance.timeOrigin) removeFile(folder, name)
  }
}

function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder)
  } catch (cause) {
    if (!hasCode(cause, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw cause
  }
}

function empty(folder: Folder): void {
  for (const name of fs.readdirSync(folder.at('.')).filter(isOurs)) removeFile(folder, name)
}

/** A folder of such a name is not ours, whatever is in it. */
function removeFile(folder: Folder, name: string): void {
  try {
    fs.unlinkSync(folder.at(name))
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EISDIR', 'EPERM')) throw cause
  }
}

/** Files, drafts of them, and archives. */
function isOurs(name: string): boolean {
  return [...FILES, MARKER, IGNORE].includes(name) || /^session\.log\.\d+\.gz$/.test(name) || isDraft(name)
}

/** `.NAME.tmp` is how earlier versions called them. */
function isDraft(name: string): boolean {
  const file = fileOfDraft(name) ?? /^\.(.+)\.tmp$/.exec(name)?.[1]
  return file !== undefined && [...FILES, MARKER, IGNORE, 'session.log.gz'].includes(file)
}

function ownerOf(folder: Folder): string | null {
  const text = readIn(folder, MARKER)
  return /^[a-z0-9]{1,20}$/.test(text) ? text : null
}

function isThere(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
}
