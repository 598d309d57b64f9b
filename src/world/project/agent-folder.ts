import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/trouble.ts'
import { hideFromGit } from '../os/hide-from-git.ts'
import { type Folder, openFolder } from './open-folder.ts'
import { readIn } from './own-file.ts'

/** The folder for people and agents who look into a project. */
export const AGENT_FOLDER = '.agent'

/** What each session has there; at the top are links to those of the newest. */
export const FILES = [
  'STATUS.md',
  'HEARTBEAT',
  'CHECKPOINTS.md',
  'session.log',
  'LAST_STATE.md',
  'RECOVERY.md',
] as const

/** Says whose folder it is, and that it is ours. */
const MARKER = '.session'

/** Whose files, and in which project. */
export interface Owner {
  readonly project: string
  readonly name: string
  readonly id: string
}

/** Opens the folder of a project. Null when there is none, or a file or link in its place, which is left alone. */
export function openAgentFolder(project: string): Folder | null {
  return openFolder(path.join(project, AGENT_FOLDER))
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
    const folder = openFolder(agent.at(owner.name))
    if (folder === null) return isThere(agent.at(owner.name)) ? null : makeSessionFolder(agent, owner)
    return settle(folder, owner, mayTake)
  } finally {
    agent.close()
  }
}

/** Opens it again, for whoever has seen whose it is; null when it is not there. */
export function reopenSessionFolder({ project, name }: Owner): Folder | null {
  const agent = openAgentFolder(project)
  try {
    return agent === null ? null : openFolder(agent.at(name))
  } finally {
    agent?.close()
  }
}

function makeAgentFolder(project: string): Folder | null {
  const place = path.join(project, AGENT_FOLDER)
  if (isThere(place)) return null
  hideFromGit(project, AGENT_FOLDER)
  fs.mkdirSync(place, { mode: 0o700 })
  return openFolder(place)
}

function makeSessionFolder(agent: Folder, owner: Owner): Folder | null {
  hideFromGit(owner.project, AGENT_FOLDER)
  fs.mkdirSync(agent.at(owner.name), { mode: 0o700 })
  const folder = openFolder(agent.at(owner.name))
  return folder === null ? null : settle(folder, owner, () => false)
}

function settle(folder: Folder, { id, project }: Owner, mayTake: (id: string | null) => boolean): Folder | null {
  const owner = ownerOf(folder)
  if (owner === id) {
    // There may be a repository by now.
    hideFromGit(project, AGENT_FOLDER)
    return folder
  }
  const isFree = owner === null && FILES.every(file => !isThere(folder.at(file)))
  if (!isFree && !mayTake(owner)) {
    folder.close()
    return null
  }
  hideFromGit(project, AGENT_FOLDER)
  empty(folder)
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

/** Puts a file in its place in one step, whatever was there: a link is replaced and not followed. */
export function replaceIn(folder: Folder, file: string, text: string): void {
  const draft = draftIn(folder, file, text)
  try {
    fs.renameSync(draft, folder.at(file))
  } catch (cause) {
    fs.rmSync(draft, { force: true })
    throw cause
  }
}

/** Writes what is to be put in the place of a file beside it; answers where. It is a new file, and no link to another. */
export function draftIn(folder: Folder, file: string, text: string): string {
  const draft = folder.at(`.${file}.tmp`)
  fs.rmSync(draft, { force: true, recursive: true })
  try {
    fs.writeFileSync(draft, text, { flag: 'wx', mode: 0o600 })
    return draft
  } catch (cause) {
    fs.rmSync(draft, { force: true }) // On a full disk what was begun is taken away again.
    throw cause
  }
}

export function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder)
  } catch (cause) {
    if (!hasCode(cause, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw cause
  }
}

function empty(folder: Folder): void {
  const names = fs.readdirSync(folder.at('.')).filter(isOurs)
  for (const name of names) fs.rmSync(folder.at(name), { force: true, recursive: true })
}

/** Files, drafts of them, and archives. */
function isOurs(name: string): boolean {
  const files = [...FILES, MARKER, 'session.log.gz']
  return files.some(file => name === file || name === `.${file}.tmp`) || /^session\.log\.\d+\.gz$/.test(name)
}

function ownerOf(folder: Folder): string | null {
  const text = readIn(folder, MARKER)
  return /^[a-z0-9]{1,20}$/.test(text) ? text : null
}

function isThere(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
}
