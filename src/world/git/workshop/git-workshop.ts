import fs from 'node:fs'
import path from 'node:path'
import type { Evidence, Snapshot } from '../../../core/loop/evidence.ts'
import type { Duration } from '../../../lib/time.ts'
import { Trouble } from '../../../lib/trouble.ts'
import { Unkept } from '../../../ports/checkpoints.ts'
import type { Bench, Cleared, Merged, Surveyed, Workshop } from '../../../ports/workshop.ts'
import { Git } from '../git.ts'
import { headOf } from '../head.ts'
import type { Means } from '../means.ts'
import { Memory } from '../memory.ts'
import type { Place } from '../place.ts'
import { alone, type Turn } from './alone.ts'
import { clear } from './bench/clear.ts'
import { commitPaths } from './bench/commit-paths.ts'
import { evidence, logOf, snapshot } from './evidence.ts'
import { found, isRepository } from './found.ts'
import { land, type Landed } from './land/land.ts'
import { patiently } from './locks.ts'
import { clash, merge } from './bench/merge.ts'
import { benchIn, refuse } from './notes.ts'
import { open } from './bench/open.ts'
import { canonical } from './bench/registry.ts'
import { rewind } from './bench/rewind.ts'
import { seal } from './bench/seal.ts'
import { commitAt, findShopMeans, keptRef, placeAt, seenRef, sharedFolder } from './shop.ts'
import { survey } from './survey.ts'

export interface ShopOptions {
  readonly env?: NodeJS.ProcessEnv
  /** How long one call may take, its waiting included. */
  readonly limit?: Duration
  /** Bytes; larger files are left out of all that is kept. */
  readonly largest?: number
}

const OF_WORKTREE = ['index.lock', 'HEAD.lock', 'ORIG_HEAD.lock', 'AUTO_MERGE.lock'] as const

/** To check out a large repository on a slow disk takes minutes, and others may be at it. */
const LIMIT: Duration = 15 * 60_000

export function gitWorkshop(options: ShopOptions = {}): Workshop {
  return new GitWorkshop(options)
}

class GitWorkshop implements Workshop {
  readonly #env: NodeJS.ProcessEnv
  readonly #limit: Duration
  readonly #largest: number | undefined
  readonly #memory = new Memory()
  #means: Means | undefined

  constructor({ env = process.env, limit = LIMIT, largest }: ShopOptions) {
    this.#env = env
    this.#limit = limit
    this.#largest = largest
  }

  survey(cwd: string): Promise<Surveyed | null> {
    return translating(`looking at ${cwd}`, async () => {
      const git = await this.#git(cwd)
      return (await isRepository(git)) ? survey(await placeAt(git, this.#memory, this.#largest)) : null
    })
  }

  found(cwd: string): Promise<void> {
    return translating(`making a repository of ${cwd}`, async () => found(await this.#git(cwd), this.#memory))
  }

  snapshot(cwd: string): Promise<Snapshot> {
    return this.#beside(cwd, snapshot)
  }

  evidence(cwd: string, since: Snapshot, apart: readonly string[]): Promise<Evidence> {
    return this.#beside(cwd, place => evidence(place, fs.realpathSync(cwd), since, apart))
  }

  log(cwd: string, limit: number): Promise<readonly { id: string; subject: string }[]> {
    return this.#beside(cwd, async place =>
      (await headOf(place)) === null ? [] : logOf(place, [`--max-count=${limit}`, 'HEAD', '--']),
    )
  }

  tip(cwd: string, branch: string): Promise<string | null> {
    return this.#beside(cwd, ({ git }) => commitAt(git, `refs/heads/${branch}`))
  }

  open(cwd: string, bench: Bench, from: string): Promise<void> {
    return this.#alone(`opening a worktree for ${bench.branch}`, cwd, bench, place => open(place, bench, from))
  }

  seal(bench: Bench, message: string, apart: readonly string[], base: string): Promise<string> {
    return this.#at(`committing the work on ${bench.branch}`, bench, place =>
      seal(place, { bench, message, apart, base }),
    )
  }

  merge(bench: Bench, branch: string, message: string): Promise<Merged> {
    return this.#at(`merging ${branch}`, bench, place => merge(place, branch, message))
  }

  clash(bench: Bench, branch: string): Promise<readonly string[]> {
    return this.#at(`merging ${branch}`, bench, place => clash(place, branch))
  }

  commit(bench: Bench, paths: readonly string[], message: string): Promise<string> {
    return this.#at(`committing to ${bench.branch}`, bench, place => commitPaths(place, paths, message))
  }

  clear(cwd: string, bench: Bench, into: string): Promise<Cleared> {
    return this.#alone(`clearing ${bench.branch}`, cwd, bench, place => clear(place, bench, into))
  }

  rewind(bench: Bench, commit: string): Promise<void> {
    return this.#at(`rewinding ${bench.branch}`, bench, place => rewind(place, bench, commit))
  }

  land(cwd: string, branch: string, message: string): Promise<Landed> {
    return this.#alone(`landing ${branch}`, cwd, null, place => land(place, branch, message))
  }

  /** In a worktree of ours. */
  #at<T>(doing: string, bench: Bench, work: (place: Place) => Promise<T>): Promise<T> {
    return this.#alone(doing, bench.path, bench, async place => {
      const { gitDir, top } = place.repository
      const isOurs = top === fs.realpathSync(bench.path) && benchIn(gitDir).read()?.branch === bench.branch
      if (!isOurs) refuse(doing, `${bench.path} is not a worktree of ours for it`)
      return work(place)
    })
  }

  /** One at a time in a repository; what stumbles over a lock is begun again. `bench`: nobody else moves its branch. */
  #alone<T>(doing: string, cwd: string, bench: Bench | null, work: (place: Place) => Promise<T>): Promise<T> {
    return translating(doing, async () => {
      const git = await this.#git(cwd)
      const { repository } = await placeAt(git, this.#memory, this.#largest)
      return alone(sharedFolder(repository), git.signal, async turn => {
        const place = await placeAt(git.at(cwd, turn.env), this.#memory, this.#largest)
        const ours = (): string[] => locksOf(place, bench, turn)
        return patiently({ signal: git.signal, ours }, () => work(place))
      })
    })
  }

  #beside<T>(cwd: string, work: (place: Place) => Promise<T>): Promise<T> {
    return translating(`looking at ${cwd}`, async () => {
      const git = await this.#git(cwd)
      const place = await placeAt(git, this.#memory, this.#largest)
      return patiently({ signal: git.signal, ours: () => [] }, () => work(place))
    })
  }

  async #git(cwd: string): Promise<Git> {
    this.#means ??= await findShopMeans(this.#env)
    return new Git(this.#means, fs.existsSync(cwd) ? fs.realpathSync(cwd) : cwd, AbortSignal.timeout(this.#limit))
  }
}

/** Locks that only we can have left, when they are old. */
function locksOf({ repository }: Place, bench: Bench | null, { isHeir }: Turn): string[] {
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

async function translating<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof Trouble) throw cause
    throw new Trouble(doing, cause, { mayHelpToRetry: !(cause instanceof Unkept) })
  }
}
