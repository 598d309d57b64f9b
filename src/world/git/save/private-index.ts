import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { RawPath } from '../../../lib/raw-path.ts'
import { replaceFile } from '../../os/files.ts'
import { bootId } from '../../os/processes.ts'
import { lstat } from '../lstat.ts'
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

/** An index of our own for the length of one chain, under a name that no git process of an earlier chain knows. */
export class PrivateIndex {
  readonly file: string
  /** Of the last chain; null when it was made anew from the user's. */
  readonly notes: IndexNotes | null
  readonly gitlinks: readonly RawPath[]
  readonly #folder: string
  readonly #begun = Math.floor(Date.now() / 1000)
  readonly #sparse: string

  private constructor(file: string, sparse: string, notes: IndexNotes | null, gitlinks: readonly RawPath[]) {
    this.file = file
    this.notes = notes
    this.gitlinks = gitlinks
    this.#folder = path.dirname(file)
    this.#sparse = sparse
  }

  /** That of the last chain, or a new one. */
  static async open(place: Place): Promise<PrivateIndex> {
    // Before the user's index is read: when that is replaced meanwhile, the next chain begins anew.
    const sparse = sparseMark(place.repository)
    const kept = readKept(place, sparse)
    fs.mkdirSync(place.folder, { recursive: true, mode: 0o700 })
    tidy(place.folder, kept?.file)
    const file = path.join(place.folder, `index-${crypto.randomBytes(4).toString('hex')}`)
    if (kept !== null && linkOrCopy(path.join(place.folder, kept.file), file)) {
      return new PrivateIndex(file, sparse, kept, kept.gitlinks)
    }
    return new PrivateIndex(file, sparse, null, await seedIndex(place, file))
  }

  /**
   * Makes it the one that the next chain begins with. It seems to be no younger than this one: git would take a file for unchanged
   * that was written after it was read, in the same second and with the same length, if the index was written a second later.
   */
  keep(notes: IndexNotes): void {
    const isYounger = (lstat(this.file)?.mtimeMs ?? 0) > this.#begun * 1000
    if (isYounger) fs.utimesSync(this.file, this.#begun, this.#begun)
    const file = path.basename(this.file)
    const kept: Kept = { ...notes, file, boot: bootId, sparse: this.#sparse }
    replaceFile(notesFile(this.#folder), JSON.stringify(kept))
    tidy(this.#folder, file)
  }

  discard(): void {
    fs.rmSync(this.file, { force: true })
  }
}

/** The next chain begins anew. */
export function dropIndex(place: Place): void {
  fs.rmSync(notesFile(place.folder), { force: true })
}

function readKept(place: Place, sparse: string): Kept | null {
  try {
    const kept = JSON.parse(fs.readFileSync(notesFile(place.folder), 'utf8')) as Kept
    return kept.boot === bootId && kept.sparse === sparse ? kept : null
  } catch {
    return null // There is none yet, or it was cut short: another one is made.
  }
}

function tidy(folder: string, kept: string | undefined): void {
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith('index-') && name !== kept) fs.rmSync(path.join(folder, name), { force: true })
  }
}

function notesFile(folder: string): string {
  return path.join(folder, 'index.json')
}
