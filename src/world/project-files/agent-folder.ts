import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/errors.ts'
import { parseTemporaryName, replaceIn } from '../../os/files/file-io.ts'
import { addToGitExclude } from '../../state/git-exclude.ts'
import { type FolderHandle, openFolder } from '../../os/files/folder-handle.ts'
import { describeUnsafe, readSafely } from './safe-file.ts'

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
const GITIGNORE = '.gitignore'
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
export function openAgentFolder(project: string): FolderHandle | null {
  return openOwned(path.join(project, AGENT_FOLDER), AGENT_FOLDER)
}

function openOwned(folderPath: string, name: string): FolderHandle | null {
  const folder = openFolder(folderPath)
  const objection = folder === null ? null : describeUnsafe(folder.stat())
  if (objection === null) return folder
  folder?.close()
  throw new Error(`${name} is not used: ${objection}`)
}

/** Whether a file or a link is in the place of a project's folder. */
export function isNotAFolder(project: string): boolean {
  const found = fs.lstatSync(path.join(project, AGENT_FOLDER), { throwIfNoEntry: false })
  return found !== undefined && !found.isDirectory()
}

/**
 * Opens the folder of a session, and makes it first where there is none. One that another session of the same name left, or
 * that does not say whose it is, is taken over if it may be. Null when something is in its place that is to be left alone.
 */
export function openSessionFolder(owner: Owner, mayReplace: (id: string | null) => boolean): FolderHandle | null {
  const agent = openAgentFolder(owner.project) ?? makeAgentFolder(owner.project)
  if (agent === null) return null
  try {
    const folder = openOwned(agent.at(owner.name), `${AGENT_FOLDER}/${owner.name}`)
    if (folder === null) return exists(agent.at(owner.name)) ? null : makeSessionFolder(agent, owner)
    return claimFolder(folder, { owner, agent }, mayReplace)
  } finally {
    agent.close()
  }
}

/** Opens it again, for whoever has seen whose it is; null when it is not there. */
export function reopenSessionFolder({ project, name }: Owner): FolderHandle | null {
  const agent = openAgentFolder(project)
  try {
    return agent === null ? null : openOwned(agent.at(name), `${AGENT_FOLDER}/${name}`)
  } finally {
    agent?.close()
  }
}

function makeAgentFolder(project: string): FolderHandle | null {
  const folderPath = path.join(project, AGENT_FOLDER)
  if (exists(folderPath)) return null
  addToGitExclude(project, [`${AGENT_FOLDER}/`])
  fs.mkdirSync(folderPath, { mode: 0o700 })
  return openAgentFolder(project)
}

/**
 * Keeps our files out of git and of packages. A project may have a folder of this name for itself and track it: there we hide
 * nothing but our own files. Each session's folder has an ignore file of its own in any case.
 */
function excludeFromGit(agent: FolderHandle, project: string): void {
  if (isShared(agent))
    return addToGitExclude(
      project,
      FILES.map(file => `${AGENT_FOLDER}/${file}`),
    )
  addToGitExclude(project, [`${AGENT_FOLDER}/`])
  if (!exists(agent.at(GITIGNORE))) replaceIn(agent, GITIGNORE, IGNORE_ALL)
}

/** Whether somebody else keeps files in it, and kept them before we came. */
function isShared(agent: FolderHandle): boolean {
  if (readSafely(agent, GITIGNORE) === IGNORE_ALL) return false
  return fs.readdirSync(agent.at('.')).some(name => !isOwnEntry(agent, name))
}

function isOwnEntry(agent: FolderHandle, name: string): boolean {
  if (FILES.includes(name) || isTemporary(name) || name === 'worktrees') return true
  return fs.existsSync(agent.at(`${name}/${MARKER}`)) || name.endsWith('.log')
}

/** Removes the folder of a project, unless there is anything but what we have put there. */
export function removeAgentFolder(project: string): void {
  const agent = openAgentFolder(project)
  if (agent === null) return
  try {
    const isBare = fs.readdirSync(agent.at('.')).every(name => name === GITIGNORE)
    if (isBare && readSafely(agent, GITIGNORE) === IGNORE_ALL) removeFile(agent, GITIGNORE)
  } finally {
    agent.close()
  }
  removeIfEmpty(path.join(project, AGENT_FOLDER))
}

function makeSessionFolder(agent: FolderHandle, owner: Owner): FolderHandle | null {
  excludeFromGit(agent, owner.project)
  fs.mkdirSync(agent.at(owner.name), { mode: 0o700 })
  const folder = openOwned(agent.at(owner.name), `${AGENT_FOLDER}/${owner.name}`)
  return folder === null ? null : claimFolder(folder, { owner, agent }, () => false)
}

function claimFolder(
  folder: FolderHandle,
  { owner: { id, project }, agent }: { owner: Owner; agent: FolderHandle },
  mayReplace: (id: string | null) => boolean,
): FolderHandle | null {
  const owner = readOwner(folder)
  if (owner === id) {
    // There may be a repository by now, or somebody has removed an ignore file.
    excludeFromGit(agent, project)
    if (!exists(folder.at(GITIGNORE))) replaceIn(folder, GITIGNORE, IGNORE_ALL)
    return folder
  }
  const isFree = owner === null && FILES.every(file => !exists(folder.at(file)))
  if (!isFree && !mayReplace(owner)) {
    folder.close()
    return null
  }
  excludeFromGit(agent, project)
  removeOwnFiles(folder)
  replaceIn(folder, GITIGNORE, IGNORE_ALL)
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
      if (readOwner(folder) !== id) return
      removeOwnFiles(folder)
    } finally {
      folder.close()
    }
    removeIfEmpty(agent.at(name))
  } finally {
    agent.close()
  }
}

/** Whether this session has a folder there. */
export function hasSessionFolder(agent: FolderHandle, { name, id }: Owner): boolean {
  const folder = openFolder(agent.at(name))
  if (folder === null) return false
  try {
    return readOwner(folder) === id
  } finally {
    folder.close()
  }
}

/** Removes drafts that a killed supervisor has left; those of this process are younger than it. */
export function removeTemporaryFiles(folder: FolderHandle): void {
  for (const name of fs.readdirSync(folder.at('.')).filter(isTemporary)) {
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

function removeOwnFiles(folder: FolderHandle): void {
  for (const name of fs.readdirSync(folder.at('.')).filter(isOwnFile)) removeFile(folder, name)
}

/** A folder of such a name is not ours, whatever is in it. */
function removeFile(folder: FolderHandle, name: string): void {
  try {
    fs.unlinkSync(folder.at(name))
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EISDIR', 'EPERM')) throw cause
  }
}

/** Files, drafts of them, and archives. */
function isOwnFile(name: string): boolean {
  return [...FILES, MARKER, GITIGNORE].includes(name) || /^session\.log\.\d+\.gz$/.test(name) || isTemporary(name)
}

/** `.NAME.tmp` is how earlier versions called them. */
function isTemporary(name: string): boolean {
  const file = parseTemporaryName(name) ?? /^\.(.+)\.tmp$/.exec(name)?.[1]
  return file !== undefined && [...FILES, MARKER, GITIGNORE, 'session.log.gz'].includes(file)
}

function readOwner(folder: FolderHandle): string | null {
  const text = readSafely(folder, MARKER)
  return /^[a-z0-9]{1,20}$/.test(text) ? text : null
}

function exists(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
}
