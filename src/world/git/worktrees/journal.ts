import fs from 'node:fs'
import path from 'node:path'
import { objectId } from '../../../core/checkpoint/object-id.ts'
import {
  encodeRecord,
  listOf,
  nullable,
  object,
  optional,
  type Parser,
  type RecordFormat,
  string,
  stringThat,
} from '../../../lib/codec.ts'
import { replaceIn } from '../../../os/files/file-io.ts'
import { readRecordFile } from '../../../os/files/json-file.ts'
import { createFolderWithoutLinks } from '../../../os/files/folder-handle.ts'
import type { RawPath } from '../../../lib/text/raw-path.ts'
import { errorMessage, isDiskFull, Trouble } from '../../../lib/errors.ts'
import { NotSaved } from '../../../ports/checkpoints.ts'
import type { RepositoryContext } from '../repository-context.ts'
import { LockLeft } from './retry-while-locked.ts'
import { pathHash, sharedStateFolder } from './context.ts'

/** Bytes; an entry with many file names is long. */
const MAX_ENTRY_SIZE = 16 * 1_048_576

/**
 * Records an operation in progress for recovery after a kill: the entry exists from before the first step until after
 * the last one.
 */
export class JournalEntry<T extends object> {
  readonly file: string
  readonly #format: RecordFormat<T>

  constructor(file: string, parse: Parser<T>) {
    this.file = file
    this.#format = { version: 1, parse }
  }

  /**
   * Returns null if there is none. Throws if it is damaged: without the entry, nobody would undo the operation. A write
   * is atomic, so a kill damages none; an agent can, because the entry is in the git directory.
   */
  read(): T | null {
    return readRecordFile(this.file, this.#format, MAX_ENTRY_SIZE) ?? null
  }

  write(content: T): void {
    const folder = createFolderWithoutLinks(path.dirname(this.file))
    try {
      replaceIn(folder, path.basename(this.file), encodeRecord(this.#format, content), { isDurable: true })
    } finally {
      folder.close()
    }
  }

  remove(): void {
    fs.rmSync(this.file, { force: true })
  }
}

/** A ref is also the path of its lock: it must not lead out of the git directory. */
const refName = stringThat(text => text.startsWith('refs/') && !text.includes('..'))

/** Records the creation of a worktree. `from`: the start of its branch; null if the branch existed before. */
export function openingEntry({ repository }: RepositoryContext, folder: string): JournalEntry<{ from: string | null }> {
  const file = path.join(sharedStateFolder(repository), `opening-${pathHash(folder)}`)
  return new JournalEntry(file, object({ from: nullable(objectId) }))
}

/** Records the state before a merge. `untaken`: files that the tree lacks because they are too large. */
export function mergeEntry({
  repository,
}: RepositoryContext): JournalEntry<{ head: string; tree: string; untaken?: readonly RawPath[] }> {
  const parse = object({ head: objectId, tree: objectId, untaken: optional(listOf(string)) })
  return new JournalEntry(path.join(repository.gitDir, 'oneshot', 'merging'), parse)
}

/** Records a landing in the user's checkout from one commit to another. */
export interface LandingRecord {
  readonly head: string
  readonly target: string
  /** The branch that moves with it; null if HEAD is detached. */
  readonly ref: string | null
}

export function landingEntry({ repository }: RepositoryContext): JournalEntry<LandingRecord> {
  const parse = object({ head: objectId, target: objectId, ref: nullable(refName) })
  return new JournalEntry(path.join(repository.gitDir, 'oneshot', 'landing'), parse)
}

/** Marks a worktree as ours; written when the worktree is complete. */
export function ownershipEntry(gitDir: string): JournalEntry<{ branch: string }> {
  return new JournalEntry(path.join(gitDir, 'oneshot', 'bench'), object({ branch: string }))
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
    if (isDiskFull(cause) || /No space left on device/.test(errorMessage(cause)))
      throw new Trouble(doing, 'the disk is full: free some space, then oneshot resume')
    throw new Trouble(doing, cause, { mayHelpToRetry: !(cause instanceof NotSaved || cause instanceof LockLeft) })
  }
}
