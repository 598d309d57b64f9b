import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/errors.ts'
import { parseTemporaryName, replaceIn } from '../../os/files/file-io.ts'
import { addToGitExclude } from '../../state/git-exclude.ts'
import { type FolderHandle, openFolder } from '../../os/files/folder-handle.ts'
import { isSessionId, type SessionId } from '../../state/session-folder.ts'
import { describeUnsafe, readSafely } from './safe-file.ts'

/** The folder in a project that informs people and agents. */
export const AGENT_FOLDER = '.agent'

/**
 * Names of the files in each session's folder; the top of the agent folder has links to those of the newest session.
 */
export const FILES: readonly string[] = [
  'STATUS.md',
  'HEARTBEAT',
  'CHECKPOINTS.md',
  'session.log',
  'LAST_STATE.md',
  'RECOVERY.md',
]

/** Holds the id of the owning session, which also shows that the folder belongs to oneshot. */
const MARKER = '.session'

/** Keeps oneshot's files out of packages: npm and search tools read ignore files, but not `.git/info/exclude`. */
const GITIGNORE = '.gitignore'
const IGNORE_ALL = '# Made by oneshot: nothing in here is part of the project.\n*\n'

/** The session that owns the files, and its project. */
export interface Owner {
  readonly project: string
  readonly name: string
  readonly id: SessionId
}

/**
 * Opens the agent folder of a project. Returns null if there is none or a file or link has its name, which stays.
 * Throws if others could change its content: people paste commands from there.
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

/** Returns true if a file or a link has the name of the agent folder. */
export function isNotAFolder(project: string): boolean {
  const found = fs.lstatSync(path.join(project, AGENT_FOLDER), { throwIfNoEntry: false })
  return found !== undefined && !found.isDirectory()
}

/**
 * Opens the folder of a session and creates it if needed. Takes over a folder of another session of the same name, or
 * without an owner, if `mayReplace` allows it. Returns null if something else has that name; it stays.
 */
export function openSessionFolder(owner: Owner, mayReplace: (id: SessionId | null) => boolean): FolderHandle | null {
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

/** Opens the folder again for a caller that has checked its owner; null if it does not exist. */
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
 * Keeps oneshot's files out of git and of packages. A project may have its own folder of this name and track it: then
 * this function excludes only oneshot's files. Each session's folder has its own ignore file in any case.
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

/** Returns true if the folder holds files of others from before oneshot used it. */
function isShared(agent: FolderHandle): boolean {
  if (readSafely(agent, GITIGNORE) === IGNORE_ALL) return false
  return fs.readdirSync(agent.at('.')).some(name => !isOwnEntry(agent, name))
}

function isOwnEntry(agent: FolderHandle, name: string): boolean {
  if (FILES.includes(name) || isTemporary(name) || name === 'worktrees') return true
  return fs.existsSync(agent.at(`${name}/${MARKER}`)) || name.endsWith('.log')
}

/** Removes the agent folder of a project unless it holds anything but oneshot's ignore file. */
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
  mayReplace: (id: SessionId | null) => boolean,
): FolderHandle | null {
  const owner = readOwner(folder)
  if (owner === id) {
    // Somebody may have created a repository meanwhile, or removed an ignore file.
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

/** Removes the files of a session in its project, and the folder unless others have put files into it. */
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

/** Returns true if this session has a folder here. */
export function hasSessionFolder(agent: FolderHandle, { name, id }: Owner): boolean {
  const folder = openFolder(agent.at(name))
  if (folder === null) return false
  try {
    return readOwner(folder) === id
  } finally {
    folder.close()
  }
}

/** Removes temporary files of a killed supervisor; those of this process are younger than the process. */
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

/** Removes a file. A folder of that name does not belong to oneshot and stays. */
function removeFile(folder: FolderHandle, name: string): void {
  try {
    fs.unlinkSync(folder.at(name))
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EISDIR', 'EPERM')) throw cause
  }
}

/** Returns true for the session's files, their temporary files, and archives. */
function isOwnFile(name: string): boolean {
  return [...FILES, MARKER, GITIGNORE].includes(name) || /^session\.log\.\d+\.gz$/.test(name) || isTemporary(name)
}

/** Earlier versions named temporary files `.NAME.tmp`. */
function isTemporary(name: string): boolean {
  const file = parseTemporaryName(name) ?? /^\.(.+)\.tmp$/.exec(name)?.[1]
  return file !== undefined && [...FILES, MARKER, GITIGNORE, 'session.log.gz'].includes(file)
}

function readOwner(folder: FolderHandle): SessionId | null {
  const text = readSafely(folder, MARKER)
  return isSessionId(text) ? text : null
}

function exists(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
}
