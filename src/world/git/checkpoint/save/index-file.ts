import fs from 'node:fs'
import { hasCode } from '../../../../lib/errors.ts'
import path from 'node:path'
import type { Repository } from '../../repository.ts'

/**
 * Gives an index another name. git never writes into one but puts another in its place, so both names lead to the same until
 * one of them is used. False when there is none.
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
 * Copies an index together with its age. git trusts an entry only when the file is older than the index: a copy that seemed
 * younger would hide changes of the same moment. False when there is none.
 */
export function copyIndex(from: string, to: string): boolean {
  try {
    // Before it is read: when it is replaced meanwhile, the copy seems older than it is, which only costs git a closer look.
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
 * Changes with the user's index where there is a sparse checkout: what is not on disk is what that says, and by an index from
 * before another choice all files that are no longer wanted would be deleted ones.
 */
export function sparseStamp({ gitDir }: Repository): string {
  const isSparse = fs.existsSync(path.join(gitDir, 'info', 'sparse-checkout'))
  return isSparse ? fileStamp(path.join(gitDir, 'index')) : ''
}

/** Tells a file from what it was before; empty when there is none. */
export function fileStamp(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}
