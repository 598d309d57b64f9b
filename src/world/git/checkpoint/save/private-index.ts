import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { type RawPath, joinBelow, joinRawPaths, splitRawPaths } from '../../../../lib/text/raw-path.ts'
import { readPart, replaceIn } from '../../../../os/files/file-io.ts'
import {
  type FolderHandle,
  createFolderWithoutLinks,
  openFolderFollowingLinks,
} from '../../../../os/files/folder-handle.ts'
import { bootId } from '../../../../os/process/processes.ts'
import { type RepositoryContext, readHead } from '../../repository-context.ts'
import { copyIndex, linkOrCopyIndex, sparseStamp } from './index-file.ts'
import { lstat } from '../../files.ts'

/** What was found out about an index, kept beside it. */
export interface IndexRecord {
  /** The tree that it stands for. */
  readonly tree: string
  /** Where it has the commit of another repository instead of files. */
  readonly gitlinks: readonly RawPath[]
  /** What HEAD was then, where nothing else tells. */
  readonly head?: string | null
}

interface StoredIndexRecord extends IndexRecord {
  readonly file: string
  /** An index is not made durable. One of another boot may have lost its content with the power. */
  readonly boot: string
  readonly sparse: string
}

const RECORD_FILE = 'index.json'
/** Bytes; paths of many submodules are in it. */
const MAX_RECORD_SIZE = 64 * 1_048_576

/** An index of our own for the length of one chain, under a name that no git process of an earlier chain knows. */
export class PrivateIndex {
  readonly file: string
  /** Of the last chain; null when it was made anew from the user's. */
  readonly record: IndexRecord | null
  readonly gitlinks: readonly RawPath[]
  readonly #context: RepositoryContext
  readonly #startedAt = Math.floor(Date.now() / 1000)
  readonly #sparseStamp: string

  private constructor(
    context: RepositoryContext,
    file: string,
    { sparse, notes, gitlinks }: { sparse: string; notes: IndexRecord | null; gitlinks: readonly RawPath[] },
  ) {
    this.#context = context
    this.file = file
    this.record = notes
    this.gitlinks = gitlinks
    this.#sparseStamp = sparse
  }

  /** That of the last chain, or a new one. */
  static async open(context: RepositoryContext): Promise<PrivateIndex> {
    // Before the user's index is read: when that is replaced meanwhile, the next chain begins anew.
    const sparse = sparseStamp(context.repository)
    const kept = readRecord(context, sparse)
    openStateFolder(context).close()
    removeOtherIndexes(context.folder, kept?.file)
    const file = path.join(context.folder, `index-${crypto.randomBytes(4).toString('hex')}`)
    if (kept !== null && linkOrCopyIndex(path.join(context.folder, kept.file), file)) {
      return new PrivateIndex(context, file, { sparse, notes: kept, gitlinks: kept.gitlinks })
    }
    return new PrivateIndex(context, file, { sparse, notes: null, gitlinks: await createIndex(context, file) })
  }

  /**
   * Makes it the one that the next chain begins with. It seems to be no younger than this one: git would take a file for unchanged
   * that was written after it was read, in the same second and with the same length, if the index was written a second later.
   */
  persist(notes: IndexRecord): void {
    const file = path.basename(this.file)
    const kept: StoredIndexRecord = { ...notes, file, boot: bootId, sparse: this.#sparseStamp }
    const folder = openStateFolder(this.#context)
    try {
      this.#backdate(folder.at(file))
      replaceIn(folder, RECORD_FILE, JSON.stringify(kept))
      removeOtherIndexes(folder.at('.'), file)
    } finally {
      folder.close()
    }
  }

  /** Of an index that is one: a link in its place leads to somebody else's file. */
  #backdate(file: string): void {
    const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
    try {
      const isYounger = fs.fstatSync(fd).mtimeMs > this.#startedAt * 1000
      if (isYounger) fs.futimesSync(fd, this.#startedAt, this.#startedAt)
      fs.fchmodSync(fd, 0o600) // It is ours alone, whatever git writes beside it.
    } finally {
      fs.closeSync(fd)
    }
  }

  discard(): void {
    fs.rmSync(this.file, { force: true })
  }
}

/** In a repository no part of the way to it may be a link; the state folder is where its user wants it. */
function openStateFolder({ folder, repository }: RepositoryContext): FolderHandle {
  const isInside = [repository.gitDir, repository.commonDir].some(place => folder.startsWith(`${place}/`))
  if (isInside) return createFolderWithoutLinks(folder)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  return openFolderFollowingLinks(folder)
}

/** The next chain begins anew. */
export function discardIndex(context: RepositoryContext): void {
  fs.rmSync(path.join(context.folder, RECORD_FILE), { force: true })
}

function readRecord(context: RepositoryContext, sparse: string): StoredIndexRecord | null {
  try {
    const kept = JSON.parse(
      readPart(path.join(context.folder, RECORD_FILE), 0, MAX_RECORD_SIZE).toString(),
    ) as StoredIndexRecord
    return /^index-[0-9a-f]{8}$/.test(kept.file) && kept.boot === bootId && kept.sparse === sparse ? kept : null
  } catch {
    return null // There is none yet, or it was cut short: another one is made.
  }
}

function removeOtherIndexes(folder: string, kept: string | undefined): void {
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith('index-') && name !== kept) fs.rmSync(path.join(folder, name), { force: true })
  }
}

const GITLINK = '160000'
const READ_SPARSE = ['config', '--type=bool', 'core.sparseCheckout'] as const

/**
 * Makes a first index, from the user's where there is one: that already knows what most files look like. Files that the user
 * told git not to look at are looked at all the same. Answers where it has the commits of other repositories.
 */
async function createIndex(context: RepositoryContext, file: string): Promise<RawPath[]> {
  const { git, repository } = context
  const hasCopy = copyIndex(path.join(repository.gitDir, 'index'), file)
  if (hasCopy) {
    const found = await clearSkipFlags(context, file).catch(() => null) // It cannot be read: git's own words on it come with HEAD's.
    if (found !== null) return found
    fs.rmSync(file)
  }
  if ((await readHead(context)) === null) return []
  await git.run(['read-tree', 'HEAD'], { index: file })
  return clearSkipFlags(context, file)
}

async function clearSkipFlags({ git, repository }: RepositoryContext, index: string): Promise<RawPath[]> {
  const entries = splitRawPaths(await git.run(['ls-files', '-z', '-v', '--stage'], { index })).map(parseEntry)
  const told = async (flag: string, paths: readonly RawPath[]): Promise<void> => {
    if (paths.length > 0) await git.run(['update-index', '-z', flag, '--stdin'], { index, input: joinRawPaths(paths) })
  }
  const unlooked = entries.filter(({ tag }) => tag !== tag.toUpperCase())
  await told('--no-assume-unchanged', uniquePaths(unlooked))
  // Of a sparse checkout these files are not there; where they are, or there is none, somebody hides changes of theirs.
  const skipped = entries.filter(({ tag }) => tag.toUpperCase() === 'S')
  const isSparse = skipped.length > 0 && (await git.tryRun(READ_SPARSE)).stdout.toString() === 'true\n'
  const hidden = skipped.filter(({ path }) => !isSparse || lstat(joinBelow(repository.top, path)) !== undefined)
  await told('--no-skip-worktree', uniquePaths(hidden))
  return uniquePaths(entries.filter(({ mode }) => mode === GITLINK))
}

interface IndexEntry {
  readonly tag: string
  readonly mode: string
  readonly path: RawPath
}

/** `H 100644 HASH 0<tab>PATH` */
function parseEntry(line: RawPath): IndexEntry {
  return { tag: line.charAt(0), mode: line.slice(2, 8), path: line.slice(line.indexOf('\t') + 1) }
}

function uniquePaths(entries: readonly IndexEntry[]): RawPath[] {
  return [...new Set(entries.map(({ path }) => path))]
}
