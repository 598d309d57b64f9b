import path from 'node:path'
import type { Git } from './git.ts'
import type { Link } from './link.ts'
import { findRepository, type Repository, topAt } from './repository.ts'

/** What need not be asked of git again while it is seen to hold. */
export class Memory {
  /** The newest checkpoints, by the files of their refs. */
  readonly tips = new Map<string, Link>()
  readonly #repositories = new Map<string, { mark: string; repository: Repository }>()

  /** The repository of the folder that git runs in. */
  async repository(git: Git): Promise<Repository> {
    const here = topAt(git.cwd)
    const known = this.#repositories.get(git.cwd)
    if (known !== undefined && here?.top === known.repository.top && here.mark === known.mark) return known.repository
    const repository = await findRepository(git)
    if (here?.top === repository.top) this.#repositories.set(git.cwd, { mark: here.mark, repository })
    return repository
  }
}

/** git at the top of a working tree. It does not look further up, should the repository be gone. */
export function atTop(git: Git, { top }: Repository): Git {
  return git.at(top, { GIT_CEILING_DIRECTORIES: path.dirname(top) })
}
