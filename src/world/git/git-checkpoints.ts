import fs from 'node:fs'
import path from 'node:path'
import type { Change, Checkpoint } from '../../core/checkpoint.ts'
import { isSessionId } from '../../core/session-id.ts'
import { isRefusal } from '../../lib/refusal.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import { invariant, Trouble } from '../../lib/trouble.ts'
import { Turnstile } from '../../lib/turnstile.ts'
import {
  type Checkpoints,
  type Choice,
  type ClaimWish,
  type Fetched,
  type Found,
  type Keeping,
  type Kept,
  type Occasion,
  type Remote,
  Unkept,
} from '../../ports/checkpoints.ts'
import { sessionFolder } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { chainOf } from './chain.ts'
import { compare } from './compare.ts'
import { changeBetween, diff } from './diff.ts'
import { claim } from './claim.ts'
import { forget, removeRefs } from './forget.ts'
import { Git } from './git.ts'
import { keepGoal, readGoal } from './goal.ts'
import { checkpointOf } from './link.ts'
import { findMeans, type Means } from './means.ts'
import { atTop, Memory } from './memory.ts'
import { outerPlace, type Place, refOf, rememberTop } from './place.ts'
import { push } from './push.ts'
import { findKept, linkAt, linkOf, readRecordOf } from './read.ts'
import { fetch, putBack } from './remote.ts'
import { rememberRemotes } from './remote-url.ts'
import { topAt } from './repository.ts'
import { rememberRepository } from './same-repository.ts'
import { type Destination, restoreBeside } from './restore/beside.ts'
import { restoreHere } from './restore/here.ts'
import { save } from './save/save.ts'
import type { Wish } from './save/wish.ts'
import { thin } from './thin.ts'

type Env = Readonly<Record<string, string>>

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  /** Where the private index of a session lies. */
  readonly folderOf: (sessionId: string) => string
  /** Bytes; larger files are left out. */
  readonly largest?: number
  /** Bytes that one fetch may bring. */
  readonly mostFetched?: number
  /** The values of a session's environment that must not be pushed. */
  readonly secretsOf?: (sessionId: string) => readonly string[]
  /** How long one chain of git processes may take. */
  readonly limit?: Duration
  /** By which git processes are known after whoever started them was killed. */
  readonly marker?: string
}

/** Larger ones are data, which nobody writes in a session; git keeps every version of them whole. */
const LARGEST = 50 * 1024 * 1024
/** A first look at a large repository on a slow disk takes minutes. */
const LIMIT: Duration = 10 * 60_000

const NEVER = new AbortController().signal

/** Those of the sessions of this home. */
export function gitCheckpoints(home: Home, options: Pick<Surroundings, 'secretsOf' | 'marker'> = {}): GitCheckpoints {
  const folderOf = (id: string): string => path.join(sessionFolder(home, id).root, 'git')
  return new GitCheckpoints({ env: process.env, folderOf, ...options })
}

/** Checkpoints by git, as others in the same repository would make them by hand, if they were careful. */
export class GitCheckpoints implements Checkpoints {
  readonly #env: NodeJS.ProcessEnv
  readonly #folderOf: (sessionId: string) => string
  readonly #largest: number
  readonly #secretsOf: (sessionId: string) => readonly string[]
  readonly #limit: Duration
  readonly #mostFetched: number | undefined
  readonly #marker: Readonly<Record<string, string>>
  readonly #memory = new Memory()
  readonly #turnstile = new Turnstile()
  #means: Means | undefined

  constructor(surroundings: Surroundings) {
    const { env, folderOf, largest = LARGEST, limit = LIMIT, secretsOf = () => [], marker } = surroundings
    this.#env = env
    this.#mostFetched = surroundings.mostFetched
    this.#folderOf = id => {
      // It becomes part of a path that is written to and removed, and it may come from a remote.
      if (!isSessionId(id)) throw new Unkept(`${JSON.stringify(id)} is no id of a session`)
      return folderOf(id)
    }
    this.#largest = largest
    this.#secretsOf = secretsOf
    this.#limit = limit
    this.#marker = marker === undefined ? {} : { ONESHOT_ATTEMPT: marker }
  }

  isPlace(cwd: string): boolean {
    return this.top(cwd) !== null
  }

  top(cwd: string): string | null {
    return fs.existsSync(cwd) ? (topAt(cwd)?.top ?? null) : null
  }

  save(keeping: Keeping, occasion: Occasion, ending: AbortSignal): Promise<Kept> {
    const wish: Wish = { occasion, largest: this.#largest, number: 1 }
    return this.#alone(`saving the work of ${keeping.name}`, keeping, ending, async place => {
      rememberTop(place)
      rememberRepository({ ...place, cwd: keeping.cwd })
      rememberRemotes(place)
      if (occasion.goal !== undefined) await keepGoal(place, occasion.goal)
      const { made, last } = await save(place, wish)
      const newest = made ?? last
      invariant(newest !== null, 'a first checkpoint is always made')
      return { checkpoint: checkpointOf(newest), isNew: made !== null }
    })
  }

  list(keeping: Keeping): Promise<Checkpoint[]> {
    return this.#beside(keeping, async place => (await chainOf(place)).map(checkpointOf))
  }

  record(keeping: Keeping, commit: string): Promise<string> {
    return this.#beside(keeping, place => readRecordOf(place, commit))
  }

  thin(keeping: Keeping, now: Instant): Promise<number> {
    return this.#alone(`thinning the checkpoints of ${keeping.name}`, keeping, null, place => thin(place, now))
  }

  push(keeping: Keeping, remote: string, env: Env, ending: AbortSignal): Promise<string | null> {
    return this.#beside(keeping, place => push(place, remote, env), ending)
  }

  claim(keeping: Keeping, wish: ClaimWish): Promise<() => Promise<void>> {
    return this.#beside(keeping, place => claim(place, wish))
  }

  goal(keeping: Keeping): Promise<readonly string[] | null> {
    return this.#beside(keeping, readGoal)
  }

  fetch(cwd: string, from: Remote, choose: Choice, ending: AbortSignal): Promise<Fetched> {
    return this.#at(cwd, git => fetch(git, { ...from, choose, most: this.#mostFetched }), ending)
  }

  /** Undoes a fetch that was made only to look. */
  putBack(cwd: string, fetched: Fetched): Promise<void> {
    return this.#at(cwd, git => putBack(git, fetched))
  }

  remotes(cwd: string): Promise<string[]> {
    return this.#at(cwd, async git => linesOf(await git.run(['remote'])))
  }

  async find(cwd: string, name?: string): Promise<Found[]> {
    return this.#at(cwd, git => findKept(git, name))
  }

  diff(keeping: Keeping, from: string, to: string, options: { stat: boolean; colour: boolean }): Promise<string> {
    return this.#beside(keeping, place => diff(place, { from, to }, options))
  }

  change(keeping: Keeping, from: string, to: string): Promise<Change> {
    return this.#beside(keeping, place => changeBetween(place, { from, to }))
  }

  compare(keeping: Keeping, since: Checkpoint | null): Promise<{ change: Change; head: string | null }> {
    return this.#alone(`looking at the work of ${keeping.name}`, keeping, null, async place =>
      compare(place, since === null ? null : (await linkAt(place, since.commit)).tree, this.#largest),
    )
  }

  restoreBeside(keeping: Keeping, checkpoint: Checkpoint, to: Destination): Promise<readonly string[]> {
    return this.#alone(`restoring ${keeping.name}`, keeping, null, async place =>
      restoreBeside(place, await linkOf(place, checkpoint), to),
    )
  }

  restoreHere(keeping: Keeping, checkpoint: Checkpoint, over: Checkpoint): Promise<readonly string[]> {
    return this.#alone(`restoring ${keeping.name}`, keeping, null, async place =>
      restoreHere(place, await linkOf(place, checkpoint), await linkOf(place, over), this.#largest),
    )
  }

  switchTo(keeping: Keeping, branch: string, commit: string): Promise<void> {
    const words = ['switch', '--quiet', '--no-track', '-c', branch, commit]
    return this.#alone(`going over to ${branch}`, keeping, null, async ({ git, umask }) => {
      await git.run(words, { umask })
    })
  }

  commits(cwd: string, since: string, limit: number): Promise<string[]> {
    return this.#at(cwd, async git => {
      return linesOf(await git.run(['log', `--max-count=${limit}`, '--format=%h %s', `${since}..HEAD`]))
    })
  }

  forget(keeping: Keeping): Promise<void> {
    return this.#alone(`forgetting the checkpoints of ${keeping.name}`, keeping, null, forget)
  }

  /** Removes the refs of a session that this home does not know, and nothing else. */
  forgetRefs({ cwd, name, sessionId }: Keeping): Promise<void> {
    return this.#at(cwd, git => removeRefs({ git, ref: refOf(name, sessionId), sessionId }))
  }

  /** One chain at a time per repository; its time runs from its turn. */
  async #alone<T>(
    doing: string,
    keeping: Keeping,
    ending: AbortSignal | null,
    work: (place: Place) => Promise<T>,
  ): Promise<T> {
    return translating(doing, async () => {
      const { repository } = await this.#place(keeping, ending)
      return this.#turnstile.pass(repository.commonDir, async () => work(await this.#place(keeping, ending)))
    })
  }

  /** Reads only, or waits for a network: nobody else waits for it. */
  async #beside<T>(keeping: Keeping, work: (place: Place) => Promise<T>, ending?: AbortSignal): Promise<T> {
    return translating(`reading the checkpoints of ${keeping.name}`, async () =>
      work(await this.#place(keeping, ending ?? null)),
    )
  }

  async #at<T>(cwd: string, work: (git: Git) => Promise<T>, ending?: AbortSignal): Promise<T> {
    return translating(`reading the checkpoints in ${cwd}`, async () => {
      const git = await this.#git(cwd, ending ?? null)
      return work(atTop(git, await this.#memory.repository(git)))
    })
  }

  async #place(keeping: Keeping, ending: AbortSignal | null): Promise<Place> {
    const git = await this.#git(keeping.cwd, ending)
    const place = await outerPlace(keeping, git, this.#memory, this.#folderOf(keeping.sessionId))
    return keeping.withholdsSecrets ? { ...place, withheld: this.#secretsOf(keeping.sessionId) } : place
  }

  async #git(cwd: string, ending: AbortSignal | null): Promise<Git> {
    this.#means ??= await findMeans({ ...this.#env, ...this.#marker })
    return new Git(this.#means, cwd, ending ?? NEVER, Date.now() + this.#limit)
  }
}

function linesOf(said: Buffer): string[] {
  return said
    .toString()
    .split('\n')
    .filter(line => line !== '')
}

async function translating<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const isAnswer = cause instanceof Unkept || cause instanceof Trouble || isRefusal(cause)
    throw isAnswer ? cause : new Trouble(doing, cause)
  }
}
