import path from 'node:path'
import type { LoopTask } from '../core/loop/loop.ts'
import type { Worktree } from '../ports/worktrees.ts'

/**
 * Where a loop's worktrees lie and what its branches are called. Below the project, so that whatever is looked for upwards, such as
 * node_modules, is found; in `.agent`, which git is told to leave alone.
 */
export class WorktreePaths {
  readonly #folder: string
  readonly #branch: string

  constructor({ cwd, name, id }: { cwd: string; name: string; id: string }, top: string) {
    // Loops of the same name, one after the other, are told apart by a few letters of their id.
    const own = `${name}-${id.slice(0, 4)}`
    this.#folder = path.join(top, '.agent', 'worktrees', own)
    this.#branch = `oneshot/${own}`
    this.subfolder = path.relative(top, cwd)
  }

  /** Where the loop was asked for, within its repository. */
  readonly subfolder: string

  get integration(): Worktree {
    return { path: path.join(this.#folder, 'all'), branch: this.#branch }
  }

  taskWorktree({ number }: LoopTask): Worktree {
    return { path: path.join(this.#folder, `${number}`), branch: `${this.#branch}-${number}` }
  }

  /** Where a task is brought together with what was merged before. */
  mergeWorktree({ number, tries }: LoopTask): Worktree {
    const name = `${number}-merge-${tries.length}`
    return { path: path.join(this.#folder, name), branch: `${this.#branch}-${name}` }
  }

  /** The top of the worktree that this folder belongs to. */
  topOf(cwd: string): string {
    return this.subfolder === '' ? cwd : cwd.slice(0, -this.subfolder.length - 1)
  }

  /** The list as it is named from the top of a worktree. */
  fromTop(file: string): string {
    return path.join(this.subfolder, file)
  }

  /** The same folder in another worktree. */
  folderIn(worktree: Worktree): string {
    return path.join(worktree.path, this.subfolder)
  }
}
