import fs from 'node:fs'
import path from 'node:path'
import { readRegular, replaceIn } from '../../os/files.ts'
import { makeStraight } from '../../os/open-folder.ts'
import type { RawPath } from '../../../lib/raw-path.ts'
import { Trouble } from '../../../lib/trouble.ts'
import { Unkept } from '../../../ports/checkpoints.ts'
import type { Place } from '../place.ts'
import { LockLeft } from './locks.ts'
import { hashOf, sharedFolder } from './shop.ts'

/** Bytes; a note that names many files is long. */
const LONGEST = 16 * 1_048_576

/** What was begun, for whoever comes after a kill: it lies there from before the first step until after the last one. */
export class Note<T> {
  readonly file: string

  constructor(file: string) {
    this.file = file
  }

  read(): T | null {
    try {
      return JSON.parse(readRegular(this.file, LONGEST).content.toString()) as T
    } catch {
      return null // There is none. Written in one step, it is never half there.
    }
  }

  write(content: T): void {
    const folder = makeStraight(path.dirname(this.file))
    try {
      replaceIn(folder, path.basename(this.file), JSON.stringify(content), { isDurable: true })
    } finally {
      folder.close()
    }
  }

  drop(): void {
    fs.rmSync(this.file, { force: true })
  }
}

/** A worktree is being made. `from`: where its branch begins; null when that was there before. */
export function openingOf({ repository }: Place, folder: string): Note<{ from: string | null }> {
  return new Note(path.join(sharedFolder(repository), `opening-${hashOf(folder)}`))
}

/** A merge is under way; all of it is of the moment before. `untaken`: what the tree does not have, because it is too large. */
export function mergingIn({ repository }: Place): Note<{ head: string; tree: string; untaken?: readonly RawPath[] }> {
  return new Note(path.join(repository.gitDir, 'oneshot', 'merging'))
}

/** The user's checkout is on its way from one commit to another. */
export interface Landing {
  readonly head: string
  readonly target: string
  /** The branch that goes there with it; null when none is checked out. */
  readonly ref: string | null
}

export function landingIn({ repository }: Place): Note<Landing> {
  return new Note(path.join(repository.gitDir, 'oneshot', 'landing'))
}

/** Whose worktree it is: written once it is whole. */
export function benchIn(gitDir: string): Note<{ branch: string }> {
  return new Note(path.join(gitDir, 'oneshot', 'bench'))
}

/** The answer is no, and stays no until somebody does something about it. */
export function refuse(doing: string, why: string): never {
  throw new Trouble(doing, why, { mayHelpToRetry: false })
}

/** Says what was being done when the world failed us. */
export async function translating<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof Trouble) throw cause
    throw new Trouble(doing, cause, { mayHelpToRetry: !(cause instanceof Unkept || cause instanceof LockLeft) })
  }
}
