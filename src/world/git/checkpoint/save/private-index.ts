import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { objectId } from '../../../../core/checkpoint/object-id.ts'
import { listOf, nullable, object, optional, type Parser, string, stringThat } from '../../../../lib/codec.ts'
import { type RawPath, joinBelow, joinRawPaths, splitRawPaths } from '../../../../lib/text/raw-path.ts'
import { replaceIn } from '../../../../os/files/file-io.ts'
import { readJsonCache } from '../../../../os/files/json-file.ts'
import {
  type FolderHandle,
  createFolderWithoutLinks,
  openFolderFollowingLinks,
} from '../../../../os/files/folder-handle.ts'
import { bootId } from '../../../../os/process/processes.ts'
import { type RepositoryContext, readHead } from '../../repository-context.ts'
import {
  type IndexRecord,
  type IndexSeed,
  type StoredIndexRecord,
  copyIndex,
  fileStamp,
  linkOrCopyIndex,
  sparseStamp,
} from './index-file.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'

const RECORD_FILE = 'index.json'
/** Bytes; the record contains the paths of all submodules. */
const MAX_RECORD_SIZE = 64 * 1_048_576

/** A private index for one chain of git commands, under a name that no git process of an earlier chain knows. */
export class PrivateIndex {
  readonly file: string
  /** The record of the last chain; null if the index is a new copy of the user's. */
  readonly record: IndexRecord | null
  readonly gitlinks: readonly RawPath[]
  readonly #context: RepositoryContext
  readonly #startedAt = Math.floor(Date.now() / 1000)
  readonly #sparseStamp: string
  readonly #origin: string | undefined

  private constructor(
    context: RepositoryContext,
    file: string,
    given: Pick<StoredIndexRecord, 'sparse' | 'origin' | 'gitlinks'> & { readonly notes: IndexRecord | null },
  ) {
    this.#context = context
    this.file = file
    this.record = given.notes
    this.gitlinks = given.gitlinks
    this.#sparseStamp = given.sparse
    this.#origin = given.origin
  }

  /** True in a sparse checkout. */
  get isSparse(): boolean {
    return this.#sparseStamp !== ''
  }

  /**
   * Opens the index of the last chain, or creates a new one. `isFirst`: the session has no checkpoint yet, so its index
   * may start from that of another session.
   */
  static async open(context: RepositoryContext, { isFirst = false } = {}): Promise<PrivateIndex> {
    // Read these before the user's index: if git replaces that meanwhile, the next chain starts from a new copy.
    const sparse = sparseStamp(context.repository)
    const origin = fileStamp(path.join(context.repository.gitDir, 'index'))
    const kept = readRecord(context, sparse)
    openStateFolder(context).close()
    removeOtherIndexes(context.folder, kept?.file)
    const file = path.join(context.folder, `index-${crypto.randomBytes(4).toString('hex')}`)
    if (kept !== null && linkOrCopyIndex(path.join(context.folder, kept.file), file)) {
      return new PrivateIndex(context, file, { ...kept, notes: kept })
    }
    const seed = isFirst ? findSeed(context, { sparse, origin }) : null
    if (seed !== null && linkOrCopyIndex(seed.path, file))
      return new PrivateIndex(context, file, { ...seed.record, notes: seed.record })
    return new PrivateIndex(context, file, { sparse, origin, notes: null, gitlinks: await createIndex(context, file) })
  }

  /**
   * Keeps this index for the next chain, with a modification time no later than the start of this chain. Otherwise git
   * would overlook a file that somebody wrote after the read, in the same second and with the same length, if git wrote
   * the index a second later.
   */
  persist(notes: IndexRecord): void {
    const file = path.basename(this.file)
    const origin = this.#origin === undefined ? {} : { origin: this.#origin }
    const kept: StoredIndexRecord = { ...notes, file, boot: bootId, sparse: this.#sparseStamp, ...origin }
    const folder = openStateFolder(this.#context)
    try {
      this.#backdate(folder.at(file))
      replaceIn(folder, RECORD_FILE, JSON.stringify(kept))
      removeOtherIndexes(folder.at('.'), file)
    } finally {
      folder.close()
    }
    offerSeed(this.#context, this.file, kept)
  }

  /** `O_NOFOLLOW`: a link in the place of the index would lead to somebody else's file. */
  #backdate(file: string): void {
    const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
    try {
      const isYounger = fs.fstatSync(fd).mtimeMs > this.#startedAt * 1000
      if (isYounger) fs.futimesSync(fd, this.#startedAt, this.#startedAt)
      fs.fchmodSync(fd, 0o600) // Only we may read it, with any permissions that git gave it.
    } finally {
      fs.closeSync(fd)
    }
  }

  discard(): void {
    fs.rmSync(this.file, { force: true })
  }
}

/** Inside a repository, no part of the path may be a link; elsewhere the user may link the state folder. */
function openStateFolder({ folder, repository }: RepositoryContext): FolderHandle {
  const isInside = [repository.gitDir, repository.commonDir].some(place => folder.startsWith(`${place}/`))
  if (isInside) return createFolderWithoutLinks(folder)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  return openFolderFollowingLinks(folder)
}

/** A session that withholds secrets neither offers its index nor uses another one: each leaves out other files. */
function offerSeed(
  { cache, repository, path, secrets, savesNested = false }: RepositoryContext,
  file: string,
  record: StoredIndexRecord,
): void {
  if (path === '' && secrets === undefined) cache.indexSeeds.set(repository.top, { path: file, record, savesNested })
}

/** Returns the newest index of the same working tree if it began as a copy of the same version of the user's index. */
function findSeed(
  { cache, repository, path, secrets, savesNested = false }: RepositoryContext,
  { sparse, origin }: { sparse: string; origin: string },
): IndexSeed | null {
  const seed = cache.indexSeeds.get(repository.top)
  if (seed === undefined || path !== '' || secrets !== undefined || seed.savesNested !== savesNested) return null
  return seed.record.sparse === sparse && seed.record.origin === origin ? seed : null
}

/** Makes the next chain start with a new index. */
export function discardIndex(context: RepositoryContext): void {
  context.cache.indexSeeds.delete(context.repository.top)
  fs.rmSync(path.join(context.folder, RECORD_FILE), { force: true })
}

function readRecord(context: RepositoryContext, sparse: string): StoredIndexRecord | null {
  // Without a readable record, the caller creates another index.
  const kept = readJsonCache(path.join(context.folder, RECORD_FILE), parseStoredRecord, MAX_RECORD_SIZE)
  return kept?.boot === bootId && kept.sparse === sparse ? kept : null
}

const parseStoredRecord: Parser<StoredIndexRecord> = object({
  tree: objectId,
  gitlinks: listOf(string),
  head: optional(nullable(objectId)),
  file: stringThat(name => /^index-[0-9a-f]{8}$/.test(name)),
  boot: string,
  sparse: string,
})

function removeOtherIndexes(folder: string, kept: string | undefined): void {
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith('index-') && name !== kept) fs.rmSync(path.join(folder, name), { force: true })
  }
}

const GITLINK = '160000'
const READ_SPARSE = ['config', '--type=bool', 'core.sparseCheckout'] as const

/**
 * Creates a first index, from the user's index if it exists, because that already caches most files. Ignores the user's
 * skip flags, so that status reads all files. Returns the paths of gitlinks.
 */
async function createIndex(context: RepositoryContext, file: string): Promise<RawPath[]> {
  const { git, repository } = context
  const hasCopy = copyIndex(path.join(repository.gitDir, 'index'), file)
  if (hasCopy) {
    // The index is unreadable: read-tree reports git's error.
    const found = await clearSkipFlags(context, file).catch(() => null)
    if (found !== null) return found
    fs.rmSync(file)
  }
  if ((await readHead(context)) === null) return []
  await git.run(['read-tree', 'HEAD'], { index: file })
  return clearSkipFlags(context, file)
}

async function clearSkipFlags({ git, repository }: RepositoryContext, index: string): Promise<RawPath[]> {
  const entries = splitRawPaths(await git.run(['ls-files', '-z', '-v', '--stage'], { index })).map(parseEntry)
  const clearFlag = async (flag: string, paths: readonly RawPath[]): Promise<void> => {
    if (paths.length > 0) await git.run(['update-index', '-z', flag, '--stdin'], { index, input: joinRawPaths(paths) })
  }
  const assumedUnchanged = entries.filter(({ tag }) => tag !== tag.toUpperCase())
  await clearFlag('--no-assume-unchanged', uniquePaths(assumedUnchanged))
  // A sparse checkout lacks these files. If they exist, or the checkout is not sparse, somebody hides changes with the
  // flag.
  const skipped = entries.filter(({ tag }) => tag.toUpperCase() === 'S')
  const isSparse = skipped.length > 0 && (await git.tryRun(READ_SPARSE)).stdout.toString() === 'true\n'
  const hidden = skipped.filter(({ path }) => !isSparse || lstat(joinBelow(repository.top, path)) !== undefined)
  await clearFlag('--no-skip-worktree', uniquePaths(hidden))
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
