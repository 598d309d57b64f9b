import fs from 'node:fs'
import { formatBytes } from '../../../lib/bytes.ts'
import { below, type RawPath, shown } from '../../../lib/raw-path.ts'
import { wordsOf } from '../../../lib/trouble.ts'
import { lstat } from '../lstat.ts'
import type { Difference } from './look.ts'

/** What is to be done to the private index. */
export interface Sifted {
  readonly add: readonly RawPath[]
  readonly remove: readonly RawPath[]
  /** What stays as it was saved last, if it was, and why. */
  readonly leftOut: readonly string[]
}

export interface Sieve {
  readonly top: string
  /** Bytes; a larger file is left out. */
  readonly largest: number
  /** Folders that are other repositories and have a commit that can be noted down. */
  readonly repositories: ReadonlySet<RawPath>
}

type Verdict = 'add' | 'remove' | 'nothing' | { readonly leftOut: string }

/** Looks at each file that is not in the index as it is on disk, and says what can be done about it. */
export function sift(differences: readonly Difference[], sieve: Sieve): Sifted {
  const add = new Set<RawPath>()
  const remove = new Set<RawPath>()
  const leftOut: string[] = []
  for (const difference of differences) {
    const verdict = judge(difference, sieve)
    if (verdict === 'add') add.add(difference.path)
    if (verdict === 'remove') remove.add(difference.path)
    if (typeof verdict !== 'object') continue
    leftOut.push(`${shown(difference.path)} ${verdict.leftOut}`)
    // Its stages cannot stay, because there is no tree of an index with some.
    if (difference.isUnmerged) remove.add(difference.path)
  }
  return { add: [...add], remove: [...remove], leftOut }
}

function judge(difference: Difference, sieve: Sieve): Verdict {
  const { staged, working, path } = difference
  // What HEAD has and the index does not: somebody has added an ignored file by force, and committed it.
  const isLost = working === '.' && staged === 'D'
  if (working === '.' && !isLost) return 'nothing'
  const isKnown = working !== '?' && !isLost
  const file = below(sieve.top, path)
  try {
    const stat = lstat(file)
    if (stat === undefined) return isKnown ? 'remove' : 'nothing'
    if (stat.isDirectory()) return sieve.repositories.has(path) ? 'add' : isKnown ? 'remove' : 'nothing'
    return judgeFile(file, stat, sieve.largest)
  } catch (cause) {
    return { leftOut: `cannot be looked at: ${wordsOf(cause)}` }
  }
}

function judgeFile(file: Buffer, stat: fs.Stats, largest: number): Verdict {
  if (stat.isSymbolicLink()) return 'add'
  if (!stat.isFile()) return { leftOut: 'is neither a file nor a link' }
  if (stat.size > largest) {
    return { leftOut: `has ${formatBytes(stat.size)}, which is more than ${formatBytes(largest)}` }
  }
  return mayRead(file) ? 'add' : { leftOut: 'may not be read' }
}

function mayRead(file: Buffer): boolean {
  try {
    fs.accessSync(file, fs.constants.R_OK)
    return true
  } catch {
    return false // Or it is gone by now, which the next look will tell.
  }
}
