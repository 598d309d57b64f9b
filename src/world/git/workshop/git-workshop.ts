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
import { rewind } from './bench/rewind.ts'
import { seal } from './bench/seal.ts'
import { commitAt, findShopMeans, placeAt, sharedFolder } from './shop.ts'
import { survey } from './survey.ts'

export interface ShopOptions {
  readonly env?: NodeJS.ProcessEnv
  /** How long one call may take, its waiting included. */
  readonly limit?: Duration
}

/** To check out a large repository on a slow disk takes minutes, and others may be at it. */
const LIMIT: Duration = 15 * 60_000

export function gitWorkshop(options: ShopOptions = {}): Workshop {
  return new GitWorkshop(options)
}

class GitWorkshop implements Workshop {
  readonly #env: NodeJS.ProcessEnv
  readonly #limit: Duration
  readonly #memory = new Memory()
  #means: Means | undefined

  constructor({ env = process.env, limit = LIMIT }: ShopOptions) {
    this.#env = env
    this.#limit = limit
  }

  survey(cwd: string): Promise<Surveyed | null> {
    return translating(`looking at ${cwd}`, async () => {
      const git = await this.#git(cwd)
      return (await isRepository(git)) ? survey(await placeAt(git, this.#memory)) : null
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
    return this.#alone(`opening a worktree for ${bench.branch}`, cwd, bench.branch, place => open(place, bench, from))
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
    return this.#alone(`clearing ${bench.branch}`, cwd, bench.branch, place => clear(place, bench, into))
  }

  rewind(bench: Bench, commit: string): Promise<void> {
    return this.#at(`rewinding ${bench.branch}`, bench, place => rewind(place, bench, commit))
  }

  land(cwd: string, branch: string, message: string): Promise<Landed> {
    return this.#alone(`landing ${branch}`, cwd, null, place => land(place, branch, message))
  }

  /** In a worktree of ours. */
  #at<T>(doing: string, bench: Bench, work: (place: Place) => Promise<T>): Promise<T> {
    return this.#alone(doing, bench.path, bench.branch, async place => {
      const { gitDir, top } = place.repository
      const isOurs = top === fs.realpathSync(bench.path) && benchIn(gitDir).read()?.branch === bench.branch
      if (!isOurs) refuse(doing, `${bench.path} is not a worktree of ours for it`)
      return work(place)
    })
  }

  /** One at a time in a repository; what stumbles over a lock is begun again. `branch`: nobody else moves it. */
  #alone<T>(doing: string, cwd: string, branch: string | null, work: (place: Place) => Promise<T>): Promise<T> {
    return translating(doing, async () => {
      const git = await this.#git(cwd)
      const { repository } = await placeAt(git, this.#memory)
      return alone(sharedFolder(repository), git.signal, async turn => {
        const place = await placeAt(git.at(cwd, turn.env), this.#memory)
        const ours = (): string[] => locksOf(place, branch, turn)
        return patiently({ signal: git.signal, ours }, () => work(place))
      })
    })
  }

  #beside<T>(cwd: string, work: (place: Place) => Promise<T>): Promise<T> {
    return translating(`looking at ${cwd}`, async () => {
      const git = await this.#git(cwd)
      const place = await placeAt(git, this.#memory)
      return patiently({ signal: git.signal, ours: () => [] }, () => work(place))
    })
  }

  async #git(cwd: string): Promise<Git> {
    this.#means ??= await findShopMeans(this.#env)
    return new Git(this.#means, fs.existsSync(cwd) ? fs.realpathSync(cwd) : cwd, AbortSignal.timeout(this.#limit))
  }
}

/** Locks that only we can have left, when they are old. */
function locksOf({ repository }: Place, branch: string | null, { isHeir }: Turn): string[] {
  const { gitDir, commonDir } = repository
  const isOurs = branch !== null && benchIn(gitDir).read()?.branch === branch
  return [
    ...(isOurs ? ['index.lock', 'HEAD.lock'].map(name => path.join(gitDir, name)) : []),
    ...(branch === null ? [] : [path.join(commonDir, 'refs', 'heads', `${branch}.lock`)]),
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
