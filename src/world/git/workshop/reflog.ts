import fs from 'node:fs'
import path from 'node:path'
import { readRegular } from '../../os/files.ts'

/** Bytes; git itself keeps three months of it. */
const LONGEST = 64 * 1_048_576

/** What was written down when HEAD of a working tree moved. */
export interface Move {
  readonly to: string
  /** Seconds since 1970, as the clock of whoever moved it said. */
  readonly at: number
  readonly message: string
}

/** Moves to a commit that was there already. */
const NO_COMMIT =
  /Fast-forward$|^(?:reset|checkout|clone|branch|Branch|worktree)\b|^[^:]*\((?:start|finish|abort|reset)\)|returning to refs\//

/** How much of it there is by now; 0 where none is kept. */
export function reflogSize(gitDir: string): number {
  return fs.statSync(fileIn(gitDir), { throwIfNoEntry: false })?.size ?? 0
}

/** The commits that were made here since; null where nothing is written down about that. */
export function commitsMadeSince(gitDir: string, size: number): Move[] | null {
  return movesSince(gitDir, size)?.filter(({ message }) => !NO_COMMIT.test(message)) ?? null
}

/** How HEAD has moved since; null where nothing is written down about that. */
export function movesSince(gitDir: string, size: number): Move[] | null {
  let text: string
  try {
    const bytes = readRegular(fileIn(gitDir), LONGEST).content
    // One that is shorter than before was made anew.
    text = bytes.subarray(bytes.length < size ? 0 : size).toString('latin1')
  } catch {
    return null // This repository keeps none, or keeps it otherwise.
  }
  return text.split('\n').flatMap(line => {
    const [, to, at, message = ''] = /^\S+ ([0-9a-f]{40,64}) [^>]*> (\d+) [+-]\d+\t?(.*)$/s.exec(line) ?? []
    return to === undefined ? [] : [{ to, at: Number(at), message }]
  })
}

function fileIn(gitDir: string): string {
  return path.join(gitDir, 'logs', 'HEAD')
}
