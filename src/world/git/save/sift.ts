import fs from 'node:fs'
import { formatBytes } from '../../../lib/bytes.ts'
import { below, type RawPath, shown } from '../../../lib/raw-path.ts'
import { wordsOf } from '../../../lib/trouble.ts'
import { lstat } from '../lstat.ts'
import { isAbandoned } from './abandoned.ts'
import type { Difference } from './look.ts'

/** What is to be done to the private index. */
export interface Sifted {
  readonly add: readonly RawPath[]
  readonly remove: readonly RawPath[]
  /** What cannot be taken from disk. */
  readonly stay: readonly RawPath[]
  /** Why, as far as it is worth telling. */
  readonly leftOut: readonly string[]
  /** Those that this tells of. */
  readonly untaken: readonly RawPath[]
}

export interface Sieve {
  readonly top: string
  /** Bytes; a larger file is left out. */
  readonly largest: number
  /** Folders that are other repositories and have a commit that can be noted down. */
  readonly repositories: ReadonlySet<RawPath>
  /** Files that must not be pushed, and why. */
  readonly withheld: ReadonlyMap<RawPath, string>
}

type Verdict = 'add' | 'remove' | 'stay' | 'nothing' | { readonly leftOut: string }

/** Looks at each file that is not in the index as it is on disk, and says what can be done about it. */
export function sift(differences: readonly Difference[], sieve: Sieve): Sifted {
  const add = new Set<RawPath>()
  const remove = new Set<RawPath>()
  const stay = new Set<RawPath>()
  const leftOut = new Map<RawPath, string>()
  for (const difference of differences) {
    const verdict = judge(difference, sieve)
    if (verdict === 'add') add.add(difference.path)
    if (verdict === 'remove') remove.add(difference.path)
    // Its stages cannot stay, because there is no tree of an index with some.
    const isLeft = verdict === 'stay' || typeof verdict === 'object'
    if (isLeft) (difference.isUnmerged ? remove : stay).add(difference.path)
    if (typeof verdict === 'object') leftOut.set(difference.path, `${shown(difference.path)} ${verdict.leftOut}`)
  }
  return {
    add: [...add],
    remove: [...remove],
    stay: [...stay],
    leftOut: [...leftOut.values()],
    untaken: [...leftOut.keys()],
  }
}

function judge(difference: Difference, sieve: Sieve): Verdict {
  const { staged, working, path } = difference
  // What HEAD has and the index does not: somebody has added an ignored file by force, and committed it.
  const isLost = working === '.' && staged === 'D'
  const isSame = working === '.' && !isLost
  if (isSame && !difference.isRepository) return 'nothing'
  const isKnown = working !== '?' && !isLost
  const file = below(sieve.top, path)
  try {
    const stat = lstat(file)
    if (stat?.isDirectory() && isUninhabited(file, difference, sieve)) return 'stay'
    if (isSame) return 'nothing'
    if (stat === undefined) return isKnown ? 'remove' : 'nothing'
    if (stat.isDirectory()) return sieve.repositories.has(path) ? 'add' : isKnown ? 'remove' : 'nothing'
    return judgeFile(file, stat, path, sieve)
  } catch (cause) {
    return { leftOut: `cannot be looked at: ${wordsOf(cause)}` }
  }
}

/** HEAD or the index have a repository there of which only the folder is there, or which cannot be used. */
function isUninhabited(folder: Buffer, { working, path, isRepository }: Difference, sieve: Sieve): boolean {
  return isRepository && working !== '?' && !sieve.repositories.has(path) && !isAbandoned(folder)
}

function judgeFile(file: Buffer, stat: fs.Stats, path: RawPath, { largest, withheld }: Sieve): Verdict {
  const why = withheld.get(path)
  if (stat.isSymbolicLink()) return why === undefined ? 'add' : { leftOut: why }
  if (!stat.isFile()) return { leftOut: 'is neither a file nor a link' }
  if (stat.size > largest) {
    return { leftOut: `has ${formatBytes(stat.size)}, more than ${formatBytes(largest)}` }
  }
  if (!mayRead(file)) return { leftOut: 'may not be read' }
  return why === undefined ? 'add' : { leftOut: why }
}

function mayRead(file: Buffer): boolean {
  try {
    fs.accessSync(file, fs.constants.R_OK)
    return true
  } catch {
    return false // Or it is gone by now, which the next look will tell.
  }
}
