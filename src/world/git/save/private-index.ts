import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { RawPath } from '../../../lib/raw-path.ts'
import { readPart, replaceIn } from '../../os/files.ts'
import { enterFolder, type Folder, makeStraight } from '../../os/open-folder.ts'
import { bootId } from '../../os/processes.ts'
import type { Place } from '../place.ts'
import { linkOrCopy } from './copy-index.ts'
import { seedIndex } from './seed-index.ts'
import { sparseMark } from './sparse-mark.ts'

/** What was found out about an index, kept beside it. */
export interface IndexNotes {
  /** The tree that it stands for. */
  readonly tree: string
  /** Where it has the commit of another repository instead of files. */
  readonly gitlinks: readonly RawPath[]
  /** What HEAD was then, where nothing else tells. */
  readonly head?: string | null
}

interface Kept extends IndexNotes {
  readonly file: string
  /** An index is not made durable. One of another boot may have lost its content with the power. */
  readonly boot: string
  readonly sparse: string
}

const NOTES = 'index.json'
/** Bytes; paths of many submodules are in it. */
const LONGEST = 64 * 1_048_576

/** An index of our own for the length of one chain, under a name that no git process of an earlier chain knows. */
export class PrivateIndex {
  readonly file: string
  /** Of the last chain; null when it was made anew from the user's. */
  readonly notes: IndexNotes | null
  readonly gitlinks: readonly RawPath[]
  readonly #place: Place
  readonly #begun = Math.floor(Date.now() / 1000)
  readonly #sparse: string

  private constructor(
    place: Place,
    file: string,
    { sparse, notes, gitlinks }: { sparse: string; notes: IndexNotes | null; gitlinks: readonly RawPath[] },
  ) {
    this.#place = place
    this.file = file
    this.notes = notes
    this.gitlinks = gitlinks
    this.#sparse = sparse
  }

  /** That of the last chain, or a new one. */
  static async open(place: Place): Promise<PrivateIndex> {
    // Before the user's index is read: when that is replaced meanwhile, the next chain begins anew.
    const sparse = sparseMark(place.repository)
    const kept = readKept(place, sparse)
    openOwnFolder(place).close()
    tidy(place.folder, kept?.file)
    const file = path.join(place.folder, `index-${crypto.randomBytes(4).toString('hex')}`)
    if (kept !== null && linkOrCopy(path.join(place.folder, kept.file), file)) {
      return new PrivateIndex(place, file, { sparse, notes: kept, gitlinks: kept.gitlinks })
    }
    return new PrivateIndex(place, file, { sparse, notes: null, gitlinks: await seedIndex(place, file) })
  }

  /**
   * Makes it the one that the next chain begins with. It seems to be no younger than this one: git would take a file for unchanged
   * that was written after it was read, in the same second and with the same length, if the index was written a second later.
   */
  keep(notes: IndexNotes): void {
    const file = path.basename(this.file)
    const kept: Kept = { ...notes, file, boot: bootId, sparse: this.#sparse }
    const folder = openOwnFolder(this.#place)
    try {
      this.#settle(folder.at(file))
      replaceIn(folder, NOTES, JSON.stringify(kept))
      tidy(folder.at('.'), file)
    } finally {
      folder.close()
    }
  }

  /** Of an index that is one: a link in its place leads to somebody else's file. */
  #settle(file: string): void {
    const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
    try {
      const isYounger = fs.fstatSync(fd).mtimeMs > this.#begun * 1000
      if (isYounger) fs.futimesSync(fd, this.#begun, this.#begun)
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
function openOwnFolder({ folder, repository }: Place): Folder {
  const isInside = [repository.gitDir, repository.commonDir].some(place => folder.startsWith(`${place}/`))
  if (isInside) return makeStraight(folder)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  return enterFolder(folder)
}

/** The next chain begins anew. */
export function dropIndex(place: Place): void {
  fs.rmSync(path.join(place.folder, NOTES), { force: true })
}

function readKept(place: Place, sparse: string): Kept | null {
  try {
    const kept = JSON.parse(readPart(path.join(place.folder, NOTES), 0, LONGEST).toString()) as Kept
    return /^index-[0-9a-f]{8}$/.test(kept.file) && kept.boot === bootId && kept.sparse === sparse ? kept : null
  } catch {
    return null // There is none yet, or it was cut short: another one is made.
  }
}

function tidy(folder: string, kept: string | undefined): void {
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith('index-') && name !== kept) fs.rmSync(path.join(folder, name), { force: true })
  }
}
