import path from 'node:path'
import type { Bench } from '../../../ports/workshop.ts'
import type { Place } from '../place.ts'
import type { Turn } from './alone.ts'
import { canonical } from './bench/registry.ts'
import { benchIn } from './notes.ts'
import { keptRef, seenRef } from './shop.ts'

const OF_WORKTREE = ['index.lock', 'HEAD.lock', 'ORIG_HEAD.lock', 'AUTO_MERGE.lock'] as const

/** Locks that only we can have left, when they are old. */
export function locksOf({ repository }: Place, bench: Bench | null, { isHeir }: Turn): string[] {
  const { gitDir, commonDir } = repository
  const isOurs = bench !== null && benchIn(gitDir).read()?.branch === bench.branch
  const refs =
    bench === null ? [] : [`refs/heads/${bench.branch}`, keptRef(bench.branch), seenRef(canonical(bench.path))]
  return [
    ...(isOurs ? OF_WORKTREE.map(name => path.join(gitDir, name)) : []),
    ...refs.map(ref => path.join(commonDir, `${ref}.lock`)),
    // git holds these for a moment only; a git of ours may have been killed in it.
    ...(isHeir ? ['packed-refs.lock', 'config.lock'].map(name => path.join(commonDir, name)) : []),
  ]
}
