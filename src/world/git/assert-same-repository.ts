import fs from 'node:fs'
import path from 'node:path'
import { decodeRecord, encodeRecord, listOf, nullable, object, type RecordFormat, string } from '../../lib/codec.ts'
import { errorMessage } from '../../lib/errors.ts'
import { NotSaved } from '../../ports/checkpoints.ts'
import { readPart, replaceFile } from '../../os/files/file-io.ts'
import type { Repository } from './repository.ts'

/** The repository that a session works in, stored in the session's folder. */
interface RepositoryRecord {
  /** The session's folder; null in a record of an older version. */
  readonly cwd: string | null
  readonly top: string
  readonly gitDir: string
  readonly commonDir: string
  /** The folder of its objects. */
  readonly objects: string
  /** Other object folders that it reads from, as git's file names them. */
  readonly alternates: readonly string[]
}

interface SessionRepository {
  readonly cwd: string
  readonly repository: Repository
  /** The folder of the record. */
  readonly folder: string
}

/** Bytes; an earlier check refuses a longer list of alternates. */
const MAX_FILE_SIZE = 2 * 1_048_576

/**
 * Throws `NotSaved` if a session's folder belongs to another repository than at the last checkpoint: with a `.git`, a
 * `commondir` or a list of alternates, an agent could make us write into any repository of the user, or push from it.
 * Accepts a moved project, a new repository in the same place, and a worktree or submodule of the same repository.
 */
export function assertSameRepository(session: SessionRepository): void {
  const before = readRecord(session.folder)
  if (before === null) return
  const now = describeRepository(session)
  const isMoved = before.cwd === null ? before.top !== now.top : before.cwd !== now.cwd
  if (isMoved) return
  if (!isSameRepository(before, now) && !isInPlace(before, now))
    throw new NotSaved(`${now.top} belongs to another repository now: its .git leads to ${now.commonDir}`)
  const added = now.gitDir === before.gitDir ? now.alternates.find(one => !before.alternates.includes(one)) : undefined
  if (added !== undefined)
    throw new NotSaved(`${now.objects}/info/alternates leads to another repository since the session began: ${added}`)
}

/**
 * Returns true if the repository of a nested folder is part of that folder or of the outer repository, or has
 * registered the folder as a worktree. Any other repository may be one that only a `.git` in the folder leads to.
 */
export function isOwnNestedRepository({ top, gitDir, commonDir }: Repository, outer: Repository): boolean {
  const isPlain = realPath(path.join(commonDir, 'objects')) === path.join(commonDir, 'objects')
  const isOwn = gitDir === path.join(top, '.git') && commonDir === gitDir && isPlain
  const isPart = isWithin(gitDir, outer.commonDir) && isWithin(commonDir, outer.commonDir)
  const known = readOrEmpty(path.join(gitDir, 'gitdir')).replace(/\n$/, '')
  const isKnown = path.dirname(path.dirname(gitDir)) === commonDir && path.resolve(gitDir, known) === `${top}/.git`
  return isOwn || isPart || (known !== '' && isKnown)
}

/** Records the repository of a session. */
export function recordRepository(session: SessionRepository): void {
  const text = encodeRecord(FORMAT, describeRepository(session))
  if (readRecordText(session.folder) !== text) replaceFile(path.join(session.folder, 'repository'), text)
}

function isSameRepository(before: RepositoryRecord, now: RepositoryRecord): boolean {
  return before.gitDir === now.gitDir && before.commonDir === now.commonDir && before.objects === now.objects
}

/**
 * Returns true for a new repository in the working tree itself, or a worktree of the same repository or of its
 * submodule.
 */
function isInPlace(before: RepositoryRecord, now: RepositoryRecord): boolean {
  const isOwn = now.gitDir === path.join(now.top, '.git') && now.commonDir === now.gitDir
  const isNew = isOwn && isWithin(now.top, before.top)
  const isPart = isWithin(now.gitDir, before.commonDir) && isWithin(now.commonDir, before.commonDir)
  return (isNew || isPart) && now.objects === path.join(now.commonDir, 'objects')
}

function isWithin(place: string, folder: string): boolean {
  return place === folder || place.startsWith(`${folder}/`)
}

function describeRepository({ cwd, repository }: SessionRepository): RepositoryRecord {
  const { top, gitDir, commonDir } = repository
  const objects = realPath(path.join(commonDir, 'objects'))
  const list = readOrEmpty(path.join(objects, 'info', 'alternates'))
  const alternates = list.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return { cwd, top, gitDir, commonDir, objects, alternates }
}

function realPath(file: string): string {
  try {
    return fs.realpathSync.native(file)
  } catch {
    return file // The path is missing: git reports it.
  }
}

/** Throws if the record is damaged, or of a newer version: then nobody knows which repository is the session's. */
function readRecord(folder: string): RepositoryRecord | null {
  const text = readRecordText(folder)
  if (text === '') return null
  if (!text.startsWith('{')) return parseOldRecord(text)
  try {
    return decodeRecord(FORMAT, text)
  } catch (cause) {
    throw new NotSaved(`${path.join(folder, 'repository')} cannot be read: ${errorMessage(cause)}`)
  }
}

const FORMAT: RecordFormat<RepositoryRecord> = {
  version: 1,
  parse: object({
    cwd: nullable(string),
    top: string,
    gitDir: string,
    commonDir: string,
    objects: string,
    alternates: listOf(string),
  }),
}

/** Parses `TOP<NUL>GITDIR`, which an earlier version wrote; the other values are those of an ordinary repository. */
function parseOldRecord(text: string): RepositoryRecord | null {
  const [top, gitDir] = text.split('\0')
  if (top === undefined || gitDir === undefined) return null
  const commonDir = gitDir.replace(/\/worktrees\/[^/]+$/, '')
  return { cwd: null, top, gitDir, commonDir, objects: realPath(path.join(commonDir, 'objects')), alternates: [] }
}

function readRecordText(folder: string): string {
  return readOrEmpty(path.join(folder, 'repository'))
}

function readOrEmpty(file: string): string {
  try {
    return readPart(file, 0, MAX_FILE_SIZE).toString()
  } catch {
    return '' // Nothing is recorded yet, or the file does not exist.
  }
}
