import fs from 'node:fs'
import { type Change, NO_CHANGE } from '../../../core/checkpoint.ts'
import { below, bytesOf, type RawPath, shown, splitRaw } from '../../../lib/raw-path.ts'
import { wordsOf } from '../../../lib/trouble.ts'
import { gitFolderIn, headByFiles } from '../guard/git-folder.ts'
import { lstat } from '../lstat.ts'
import type { Nested } from '../message.ts'
import { nestedPlace, type Place } from '../place.ts'
import type { Outcome } from './wish.ts'

/** What was saved of a repository that lies in the working tree of another. */
export interface NestedWork {
  /** From the working tree that it lies in. */
  readonly path: RawPath
  readonly head: string | null
  /** Its own state, and those of what lies in it; empty when nothing of it can be saved. */
  readonly states: readonly Nested[]
  readonly change: Change
  readonly leftOut: readonly string[]
}

/** Saves each of these folders that is a repository, in itself, as a part of the same checkpoint. */
export async function saveNested(
  outer: Place,
  { paths, submodules }: { paths: readonly RawPath[]; submodules: readonly RawPath[] },
  save: (place: Place) => Promise<Outcome>,
): Promise<NestedWork[]> {
  const found: NestedWork[] = []
  for (const path of paths) {
    try {
      if (outer.nested !== true && !submodules.includes(path) && !isWorktreeOf(outer, path)) {
        found.push(...notedDown(outer, path))
        continue
      }
      const place = await nestedPlace(outer, path)
      if (place !== null) found.push(tell(place, path, await save(place)))
    } catch (cause) {
      if (outer.git.signal.aborted) throw cause
      found.push(unsaved(path, cause))
    }
  }
  return found
}

/**
 * Somebody else's repository may have been made to harm whoever runs git in it: its HEAD is read from its files. What lies in it
 * stays where it is.
 */
function notedDown(outer: Place, path: RawPath): NestedWork[] {
  const folder = below(outer.repository.top, path).toString()
  if (lstat(`${folder}/.git`) === undefined) return []
  const head = headByFiles(folder)
  const whole = outer.path === '' ? path : `${outer.path}/${path}`
  const states = head === null ? [] : [{ path: whole, state: head, isNoted: true } as const]
  const sentence = `${shown(path)} is another repository, and oneshot records only its HEAD (nested = true saves it)`
  return [{ path, head, states, change: NO_CHANGE, leftOut: [sentence] }]
}

/** Whether the repository at this path is another working tree of this one. */
export function isWorktreeOf({ repository }: Place, path: RawPath): boolean {
  const folder = gitFolderIn(below(repository.top, path).toString())
  return folder !== null && fs.existsSync(folder.shared) && fs.realpathSync(folder.shared) === repository.commonDir
}

/** Whether the commit that is checked out has a repository at this path. */
export async function isSubmodule({ git }: Place, path: RawPath): Promise<boolean> {
  const { stdout } = await git.ask(['ls-tree', '-z', 'HEAD', '--', bytesOf(path).toString()])
  return splitRaw(stdout).some(line => line.startsWith('160000 ') && line.endsWith(`\t${path}`))
}

function tell(place: Place, path: RawPath, { made, last, head, nested }: Outcome): NestedWork {
  const state = (made ?? last)?.telling.number ?? head
  return {
    path,
    head,
    states: state === null ? nested : [{ path: place.path, state }, ...nested],
    change: made?.telling.change ?? NO_CHANGE,
    leftOut: (made?.telling.leftOut ?? []).map(sentence => `in ${shown(path)}: ${sentence}`),
  }
}

function unsaved(path: RawPath, cause: unknown): NestedWork {
  const sentence = `${shown(path)} is a repository that cannot be saved: ${wordsOf(cause)}`
  return { path, head: null, states: [], change: NO_CHANGE, leftOut: [sentence] }
}
