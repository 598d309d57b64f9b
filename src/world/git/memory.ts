import path from 'node:path'
import { Unkept } from '../../ports/checkpoints.ts'
import type { Git } from './git.ts'
import type { Link } from './link.ts'
import { findRepository, type Repository, topAt } from './repository.ts'

interface Searched {
  readonly stamp: string
  readonly held: ReadonlySet<number>
}

/** What need not be asked of git again while it is seen to hold. */
export class Memory {
  /** The newest checkpoints, by the files of their refs. */
  readonly tips = new Map<string, Link>()
  /** Trees that were seen to be small enough to be checked out. */
  readonly fittingTrees = new Set<string>()
  /** The messages that are kept whole, by the refs of their sessions. */
  readonly goals = new Map<string, string>()
  /** By file: what it looked like when it was searched, and which of the secret values it held. */
  readonly searched = new Map<string, Searched>()
  readonly #repositories = new Map<string, { mark: string; repository: Repository }>()
  readonly #isOfOneJob: boolean

  /** `isOfOneJob`: no folder may come to belong to another repository while it lasts. */
  constructor({ isOfOneJob = false }: { isOfOneJob?: boolean } = {}) {
    this.#isOfOneJob = isOfOneJob
  }

  /** The repository of the folder that git runs in. */
  async repository(git: Git): Promise<Repository> {
    const here = topAt(git.cwd)
    const known = this.#repositories.get(git.cwd)
    if (known !== undefined && here?.top === known.repository.top && here.mark === known.mark) return known.repository
    const repository = await findRepository(git)
    if (this.#isOfOneJob && known !== undefined && known.repository.commonDir !== repository.commonDir)
      throw new Unkept(`${git.cwd} belongs to another repository than it did: ${repository.commonDir}`)
    if (here?.top === repository.top) this.#repositories.set(git.cwd, { mark: here.mark, repository })
    return repository
  }
}

/** git at the top of a working tree. It does not look further up, should the repository be gone, and works in no other one. */
export function atTop(git: Git, repository: Repository): Git {
  const { top } = repository
  return git.at(top, { GIT_CEILING_DIRECTORIES: path.dirname(top) }).onlyIn(repository)
}
