import fs from 'node:fs'
import { hasCode } from '../../../../lib/errors.ts'
import path from 'node:path'
import type { RawPath } from '../../../../lib/text/raw-path.ts'
import type { Repository } from '../../repository.ts'

/** Facts about an index, stored beside it. */
export interface IndexRecord {
  /** The tree that the index represents. */
  readonly tree: string
  /** Paths that hold the commit of another repository instead of files. */
  readonly gitlinks: readonly RawPath[]
  /** HEAD at that time, if nothing else records it. */
  readonly head?: string | null
}

export interface StoredIndexRecord extends IndexRecord {
  readonly file: string
  /** We do not sync an index. An index from another boot may have lost its content in a power failure. */
  readonly boot: string
  readonly sparse: string
  /** Identifies the version of the user's index from which it was made; older versions of oneshot did not store it. */
  readonly origin?: string
}

/** The newest private index of a working tree, from which another session's first index may start. */
export interface IndexSeed {
  readonly path: string
  readonly record: StoredIndexRecord
  /** True if its chain saves nested repositories. */
  readonly savesNested: boolean
}

/**
 * Links an index under another name. git never modifies an index file but replaces it, so both names share the content
 * until git writes one of them. Returns false if the index does not exist.
 */
export function linkOrCopyIndex(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to)
    return true
  } catch (cause) {
    return hasCode(cause, 'ENOENT') ? false : copyIndex(from, to)
  }
}

/**
 * Copies an index with its modification time. git trusts an entry only if the file is older than the index: a newer
 * copy would hide changes of the same moment. Returns false if the index does not exist.
 */
export function copyIndex(from: string, to: string): boolean {
  try {
    // Read the time first: if git replaces the index meanwhile, the copy looks older than it is, which only costs a
    // closer check.
    const { mtimeMs } = fs.statSync(from)
    fs.copyFileSync(from, to)
    fs.utimesSync(to, Math.floor(mtimeMs) / 1000, Math.floor(mtimeMs) / 1000)
    return true
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return false
    throw cause
  }
}

/**
 * Changes with the user's index in a sparse checkout. That index decides which files may be absent; with an index from
 * before a change of the patterns, all files that left the checkout would look deleted.
 */
export function sparseStamp({ gitDir }: Repository): string {
  const isSparse = fs.existsSync(path.join(gitDir, 'info', 'sparse-checkout'))
  return isSparse ? fileStamp(path.join(gitDir, 'index')) : ''
}

/** Identifies a version of a file; empty if the file does not exist. */
export function fileStamp(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}
