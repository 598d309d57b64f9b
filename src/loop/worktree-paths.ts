import path from 'node:path'
import { WORKTREES_FOLDER } from '../core/loop/relocate.ts'
import type { LoopTask } from '../core/loop/loop-state.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Worktree } from '../ports/worktrees.ts'

/**
 * The folders of a loop's worktrees and the names of its branches. The folders lie below the project, so that a search
 * in parent folders, for example for node_modules, succeeds; and in `.agent`, which git excludes.
 */
export class WorktreePaths {
  readonly #folder: string
  readonly #branch: string

  constructor({ cwd, name, id }: { cwd: string; name: string; id: SessionId }, top: string) {
    // A few letters of the id separate successive loops of the same name.
    const own = `${name}-${id.slice(0, 4)}`
    this.allWorktrees = path.join(top, WORKTREES_FOLDER)
    this.#folder = path.join(this.allWorktrees, own)
    this.#branch = `oneshot/${own}`
    this.subfolder = path.relative(top, cwd)
  }

  /** The folder with the worktrees of all loops. */
  readonly allWorktrees: string

  /** The folder of the loop's session within its repository. */
  readonly subfolder: string

  get integration(): Worktree {
    return { path: path.join(this.#folder, 'all'), branch: this.#branch }
  }

  taskWorktree({ number }: LoopTask): Worktree {
    return { path: path.join(this.#folder, `${number}`), branch: `${this.#branch}-${number}` }
  }

  /** Returns the worktree in which an agent resolves a task's conflicts with merged work. */
  mergeWorktree({ number, tries }: LoopTask): Worktree {
    const name = `${number}-merge-${tries.length}`
    return { path: path.join(this.#folder, name), branch: `${this.#branch}-${name}` }
  }

  /** Returns the top of the worktree that contains this folder. */
  topOf(cwd: string): string {
    return this.subfolder === '' ? cwd : cwd.slice(0, -this.subfolder.length - 1)
  }

  /** Returns the path of a file from the top of a worktree. */
  fromTop(file: string): string {
    return path.join(this.subfolder, file)
  }

  /** Returns the same folder in another worktree. */
  folderIn(worktree: Worktree): string {
    return path.join(worktree.path, this.subfolder)
  }
}
