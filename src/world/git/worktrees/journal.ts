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

/** Bytes; an entry with many file names is long. */
const MAX_ENTRY_SIZE = 16 * 1_048_576

/**
 * Records an operation in progress for recovery after a kill: the entry exists from before the first step until after
 * the last one.
 */
export class JournalEntry<T> {
  readonly file: string

  constructor(file: string) {
    this.file = file
  }

  read(): T | null {
    try {
      return JSON.parse(readRegularFile(this.file, MAX_ENTRY_SIZE).content.toString()) as T
    } catch {
      return null // There is none. A write is atomic, so an entry is never incomplete.
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

/** Records the creation of a worktree. `from`: the start of its branch; null if the branch existed before. */
export function openingEntry({ repository }: RepositoryContext, folder: string): JournalEntry<{ from: string | null }> {
  return new JournalEntry(path.join(sharedStateFolder(repository), `opening-${pathHash(folder)}`))
}

/** Records the state before a merge. `untaken`: files that the tree lacks because they are too large. */
export function mergeEntry({
  repository,
}: RepositoryContext): JournalEntry<{ head: string; tree: string; untaken?: readonly RawPath[] }> {
  return new JournalEntry(path.join(repository.gitDir, 'oneshot', 'merging'))
}

/** Records a landing in the user's checkout from one commit to another. */
export interface LandingRecord {
  readonly head: string
  readonly target: string
  /** The branch that moves with it; null if HEAD is detached. */
  readonly ref: string | null
}

export function landingEntry({ repository }: RepositoryContext): JournalEntry<LandingRecord> {
  return new JournalEntry(path.join(repository.gitDir, 'oneshot', 'landing'))
}

/** Marks a worktree as ours; written when the worktree is complete. */
export function ownershipEntry(gitDir: string): JournalEntry<{ branch: string }> {
  return new JournalEntry(path.join(gitDir, 'oneshot', 'bench'))
}

/** Throws trouble that a retry cannot fix: a person must act first. */
export function failPermanently(doing: string, why: string): never {
  throw new Trouble(doing, why, { mayHelpToRetry: false })
}

/** Adds the current operation to an error. */
export async function wrapTrouble<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof Trouble) throw cause
    throw new Trouble(doing, cause, { mayHelpToRetry: !(cause instanceof NotSaved || cause instanceof LockLeft) })
  }
}
