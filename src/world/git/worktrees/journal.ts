import fs from 'node:fs'
import path from 'node:path'
import { readRegularFile, replaceIn } from '../../../os/files/file-io.ts'
import { createFolderWithoutLinks } from '../../../os/files/folder-handle.ts'
import type { RawPath } from '../../../lib/text/raw-path.ts'
import { Trouble } from '../../../lib/errors.ts'
import { NotSaved } from '../../../ports/checkpoints.ts'
import type { RepositoryContext } from '../repository-context.ts'
import { LockLeft } from './git-locks.ts'
import { pathHash, sharedStateFolder } from './context.ts'

/** Bytes; a note that names many files is long. */
const MAX_ENTRY_SIZE = 16 * 1_048_576

/** What was begun, for whoever comes after a kill: it lies there from before the first step until after the last one. */
export class JournalEntry<T> {
  readonly file: string

  constructor(file: string) {
    this.file = file
  }

  read(): T | null {
    try {
      return JSON.parse(readRegularFile(this.file, MAX_ENTRY_SIZE).content.toString()) as T
    } catch {
      return null // There is none. Written in one step, it is never half there.
    }
  }

  write(content: T): void {
    const folder = createFolderWithoutLinks(path.dirname(this.file))
    try {
      replaceIn(folder, path.basename(this.file), JSON.stringify(content), { isDurable: true })
    } finally {
      folder.close()
    }
  }

  remove(): void {
    fs.rmSync(this.file, { force: true })
  }
}

/** A worktree is being made. `from`: where its branch begins; null when that was there before. */
export function openingEntry({ repository }: RepositoryContext, folder: string): JournalEntry<{ from: string | null }> {
  return new JournalEntry(path.join(sharedStateFolder(repository), `opening-${pathHash(folder)}`))
}

/** A merge is under way; all of it is of the moment before. `untaken`: what the tree does not have, because it is too large. */
export function mergeEntry({
  repository,
}: RepositoryContext): JournalEntry<{ head: string; tree: string; untaken?: readonly RawPath[] }> {
  return new JournalEntry(path.join(repository.gitDir, 'oneshot', 'merging'))
}

/** The user's checkout is on its way from one commit to another. */
export interface LandingRecord {
  readonly head: string
  readonly target: string
  /** The branch that goes there with it; null when none is checked out. */
  readonly ref: string | null
}

export function landingEntry({ repository }: RepositoryContext): JournalEntry<LandingRecord> {
  return new JournalEntry(path.join(repository.gitDir, 'oneshot', 'landing'))
}

/** Whose worktree it is: written once it is whole. */
export function ownershipEntry(gitDir: string): JournalEntry<{ branch: string }> {
  return new JournalEntry(path.join(gitDir, 'oneshot', 'bench'))
}

/** The answer is no, and stays no until somebody does something about it. */
export function failPermanently(doing: string, why: string): never {
  throw new Trouble(doing, why, { mayHelpToRetry: false })
}

/** Says what was being done when the world failed us. */
export async function wrapTrouble<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof Trouble) throw cause
    throw new Trouble(doing, cause, { mayHelpToRetry: !(cause instanceof NotSaved || cause instanceof LockLeft) })
  }
}
