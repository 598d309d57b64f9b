import fs from 'node:fs'
import type { FileChange, Sighting, Snapshot } from '../../../core/loop/evidence.ts'
import type { Duration } from '../../../lib/time.ts'
import { shown, splitRaw } from '../../../lib/raw-path.ts'
import type {
  AgentCommand,
  Bench,
  Cleared,
  Head,
  Hindrance,
  KeptFile,
  Looking,
  Merged,
} from '../../../ports/workshop.ts'
import type { Returned, Surveyed, UserRefs, Workshop } from '../../../ports/workshop.ts'
import { Git } from '../git.ts'
import type { Means } from '../means.ts'
import { Memory } from '../memory.ts'
import { NoRepository } from '../repository.ts'
import type { Place } from '../place.ts'
import { alone } from './alone.ts'
import { deletedFrom, hindrancesOf, wasPointed } from './checkout-state.ts'
import { clear } from './bench/clear.ts'
import { commitPaths } from './bench/commit-paths.ts'
import { changesIn, droppedFrom, filesIn, movedOf, type Pair } from './compare-trees.ts'
import { evidence, snapshot } from './evidence.ts'
import { keepCommit, keepRefs } from './keep-refs.ts'
import { keepFiles } from './keep-files.ts'
import { logOf } from './log-of.ts'
import { found } from './found.ts'
import { land, type Landed, type How } from './land/land.ts'
import { patiently } from './locks.ts'
import { locksOf } from './own-locks.ts'
import { clash, merge } from './bench/merge.ts'
import { benchIn, refuse, translating } from './notes.ts'
import { isWhole, mend } from './bench/mend.ts'
import { open } from './bench/open.ts'
import { rewind } from './bench/rewind.ts'
import { seal } from './bench/seal.ts'
import { commitAt, findShopMeans, placeAt, sharedFolder } from './shop.ts'
import { commandsIn, hasTouched } from './git-trace.ts'
import { headNow, returnTo } from './return-to.ts'
import { userRefs } from './refs.ts'
import { survey } from './survey.ts'
import { traceFile } from './trace-file.ts'
import { textsOf } from './texts.ts'

export interface ShopOptions {
  readonly env?: NodeJS.ProcessEnv
  /** How long one call may take, its waiting included. */
  readonly limit?: Duration
  /** Bytes; larger files are left out of all that is kept. */
  readonly largest?: number
}

/** To check out a large repository on a slow disk takes minutes, and others may be at it. */
const LIMIT: Duration = 15 * 60_000

export function gitWorkshop(options: ShopOptions = {}): Workshop {
  return new GitWorkshop(options)
}

class GitWorkshop implements Workshop {
  readonly #env: NodeJS.ProcessEnv
  readonly #limit: Duration
  readonly #largest: number | undefined
  readonly #memory = new Memory({ isOfOneJob: true })
  #means: Means | undefined
  /** What leads to a commit does not change. */
  #lastLog: { readonly key: string; readonly log: Awaited<ReturnType<typeof logOf>> } = { key: '', log: [] }

  constructor({ env = process.env, limit = LIMIT, largest }: ShopOptions) {
    this.#env = env
    this.#limit = limit
    this.#largest = largest
  }

  survey(cwd: string): Promise<Surveyed | null> {
    return translating(`looking at ${cwd}`, async () => {
      try {
        return await survey(await placeAt(await this.#git(cwd), this.#memory, this.#largest))
      } catch (cause) {
        if (cause instanceof NoRepository) return null
        throw cause
      }
    })
  }

  found(cwd: string): Promise<void> {
    return translating(`making a repository of ${cwd}`, async () => found(await this.#git(cwd), this.#memory))
  }

  snapshot(cwd: string, keepAs?: string): Promise<Snapshot> {
    return this.#beside(cwd, place => snapshot(place, keepAs))
  }

  evidence(cwd: string, since: Snapshot, apart: readonly string[], how: Looking = {}): Promise<Sighting> {
    return this.#beside(cwd, place => evidence(place, fs.realpathSync(cwd), { since, apart, ...how }))
  }

  changes(cwd: string, pairs: readonly Pair[]): Promise<(readonly FileChange[] | null)[]> {
    return this.#beside(cwd, place => changesIn(place, pairs))
  }

  files(cwd: string, tree: string): Promise<ReadonlyMap<string, string>> {
    return this.#beside(cwd, place => filesIn(place, tree))
  }

  listed(cwd: string): Promise<{ top: string; files: readonly string[]; ignored: readonly string[] }> {
    return this.#beside(cwd, async ({ git, repository }) => {
      const list = async (...which: string[]): Promise<string[]> => {
        const said = await git.run(['ls-files', '-z', '--others', '--exclude-standard', ...which])
        return [...new Set(splitRaw(said).map(shown))]
      }
      const ignored = await list('--ignored', '--directory')
      return { top: repository.top, files: await list('--cached'), ignored }
    })
  }

  texts(cwd: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#beside(cwd, place => textsOf(place, hashes))
  }

  moved(cwd: string, pair: Pair, paths: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#beside(cwd, place => movedOf(place, pair, paths))
  }

  dropped(cwd: string, commits: readonly string[], from = 'HEAD'): Promise<readonly string[]> {
    return this.#beside(cwd, place => droppedFrom(place, commits, from))
  }

  log(cwd: string, limit: number): Promise<readonly { id: string; subject: string }[]> {
    return this.#beside(cwd, async place => {
      const { commit } = await headNow(place)
      if (commit === null) return []
      const key = `${place.repository.commonDir} ${commit} ${limit}`
      if (this.#lastLog.key !== key)
        this.#lastLog = { key, log: await logOf(place, [`--max-count=${limit}`, commit, '--']) }
      return this.#lastLog.log
    })
  }

  traceFile(cwd: string, name: string): Promise<string | null> {
    return this.#beside(cwd, ({ git, repository }) => traceFile(git, repository, name))
  }

  head(cwd: string): Promise<Head> {
    return this.#beside(cwd, headNow)
  }

  hindrances(cwd: string): Promise<readonly Hindrance[]> {
    return translating(`looking at ${cwd}`, async () => hindrancesOf(await this.#git(cwd)))
  }

  deleted(cwd: string, commit: string): Promise<readonly string[]> {
    return this.#beside(cwd, place => deletedFrom(place, commit))
  }

  wasPointed(cwd: string, { reflog }: Head, branch: string | null): Promise<boolean> {
    return this.#beside(cwd, async ({ repository }) => wasPointed(repository.gitDir, reflog, branch))
  }

  userRefs(cwd: string): Promise<UserRefs | null> {
    return this.#beside(cwd, async place => userRefs(place))
  }

  commandsIn(trace: string): readonly AgentCommand[] {
    return commandsIn(trace)
  }

  keepRefs(cwd: string, name: string, refs: ReadonlyMap<string, string>): Promise<void> {
    return this.#beside(cwd, ({ git }) => keepRefs(git, name, refs))
  }

  hasTouched(cwd: string, trace: string): Promise<boolean> {
    return this.#beside(cwd, async ({ repository }) => hasTouched(trace, repository.top))
  }

  keep(cwd: string, name: string, commit: string): Promise<void> {
    return this.#beside(cwd, ({ git }) => keepCommit(git, name, commit))
  }

  keepFiles(cwd: string, name: string, files: readonly KeptFile[]): Promise<string> {
    return this.#beside(cwd, place => keepFiles(place, name, files))
  }

  async mend(cwd: string, bench: Bench, commit: string): Promise<'folder' | 'branch' | null> {
    const isThere = await this.#beside(cwd, async place => isWhole(place, bench))
    return isThere ? null : this.#alone(`mending ${bench.branch}`, cwd, bench, place => mend(place, bench, commit))
  }

  returnTo(cwd: string, branch: string, since: Pick<Snapshot, 'head' | 'reflog'> | null): Promise<Returned> {
    return this.#beside(cwd, place => returnTo(place, branch, since))
  }

  tip(cwd: string, branch: string): Promise<string | null> {
    return this.#beside(cwd, ({ git }) => commitAt(git, `refs/heads/${branch}`))
  }

  open(cwd: string, bench: Bench, from: string): Promise<void> {
    return this.#alone(`opening a worktree for ${bench.branch}`, cwd, bench, place => open(place, bench, from))
  }

  seal(bench: Bench, message: string, apart: readonly string[], base: string, judged?: Snapshot): Promise<string> {
    return this.#at(`committing the work on ${bench.branch}`, bench, place =>
      seal(place, { bench, message, apart, base, judged: judged ?? null }),
    )
  }

  merge(bench: Bench, branch: string, message: string, onto?: string): Promise<Merged> {
    return this.#at(`merging ${branch}`, bench, place => merge(place, branch, message, onto))
  }

  clash(bench: Bench, branch: string): Promise<readonly string[]> {
    return this.#at(`merging ${branch}`, bench, place => clash(place, branch))
  }

  commit(bench: Bench, paths: readonly string[], message: string, onto?: string): Promise<string> {
    return this.#at(`committing to ${bench.branch}`, bench, place => commitPaths(place, { paths, message, onto }))
  }

  clear(cwd: string, bench: Bench, into: string): Promise<Cleared> {
    return this.#alone(`clearing ${bench.branch}`, cwd, bench, place => clear(place, bench, into))
  }

  rewind(bench: Bench, commit: string): Promise<void> {
    return this.#at(`rewinding ${bench.branch}`, bench, place => rewind(place, bench, commit))
  }

  land(cwd: string, branch: string, message: string, how: How = {}): Promise<Landed> {
    return this.#alone(`landing ${branch}`, cwd, null, place => land(place, branch, message, how))
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
        return patiently({ signal: git.signal, ours, folders: repository }, () => work(place))
      })
    })
  }

  #beside<T>(cwd: string, work: (place: Place) => Promise<T>): Promise<T> {
    return translating(`looking at ${cwd}`, async () => {
      const git = await this.#git(cwd)
      const place = await placeAt(git, this.#memory, this.#largest)
      return patiently({ signal: git.signal, ours: () => [], folders: place.repository }, () => work(place))
    })
  }

  async #git(cwd: string): Promise<Git> {
    this.#means ??= await findShopMeans(this.#env)
    return new Git(this.#means, fs.existsSync(cwd) ? fs.realpathSync(cwd) : cwd, AbortSignal.timeout(this.#limit))
  }
}
