import path from 'node:path'
import type { LoopTask } from '../core/loop/loop.ts'
import type { Bench } from '../ports/workshop.ts'

/**
 * Where a loop's worktrees lie and what its branches are called. Below the project, so that whatever is looked for upwards, such as
 * node_modules, is found; in `.agent`, which git is told to leave alone.
 */
export class Layout {
  readonly #folder: string
  readonly #branch: string

  constructor({ cwd, name, id }: { cwd: string; name: string; id: string }, top: string) {
    // Loops of the same name, one after the other, are told apart by a few letters of their id.
    const own = `${name}-${id.slice(0, 4)}`
    this.#folder = path.join(top, '.agent', 'worktrees', own)
    this.#branch = `oneshot/${own}`
    this.inner = path.relative(top, cwd)
  }

  /** Where the loop was asked for, within its repository. */
  readonly inner: string

  get integration(): Bench {
    return { path: path.join(this.#folder, 'all'), branch: this.#branch }
  }

  task({ number }: LoopTask): Bench {
    return { path: path.join(this.#folder, `${number}`), branch: `${this.#branch}-${number}` }
  }

  /** Where a task is brought together with what was merged before. */
  resolution({ number, tries }: LoopTask): Bench {
    const name = `${number}-merge-${tries.length}`
    return { path: path.join(this.#folder, name), branch: `${this.#branch}-${name}` }
  }

  /** The top of the worktree that this folder belongs to. */
  topOf(cwd: string): string {
    return this.inner === '' ? cwd : cwd.slice(0, -this.inner.length - 1)
  }

  /** The list as it is named from the top of a worktree. */
  listIn(file: string): string {
    return path.join(this.inner, file)
  }

  /** The same folder in another worktree. */
  within(bench: Bench): string {
    return path.join(bench.path, this.inner)
  }
}
