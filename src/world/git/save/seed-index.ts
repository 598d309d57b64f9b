import fs from 'node:fs'
import path from 'node:path'
import { below, joinRaw, type RawPath, splitRaw } from '../../../lib/raw-path.ts'
import type { Place } from '../place.ts'
import { headOf } from '../head.ts'
import { lstat } from '../lstat.ts'
import { copyIndex } from './copy-index.ts'

const GITLINK = '160000'
const ASK_SPARSE = ['config', '--type=bool', 'core.sparseCheckout'] as const

/**
 * Makes a first index, from the user's where there is one: that already knows what most files look like. Files that the user
 * told git not to look at are looked at all the same. Answers where it has the commits of other repositories.
 */
export async function seedIndex(place: Place, file: string): Promise<RawPath[]> {
  const { git, repository } = place
  const hasCopy = copyIndex(path.join(repository.gitDir, 'index'), file)
  if (hasCopy) {
    const found = await survey(place, file).catch(() => null) // It cannot be read: git's own words on it come with HEAD's.
    if (found !== null) return found
    fs.rmSync(file)
  }
  if ((await headOf(place)) === null) return []
  await git.run(['read-tree', 'HEAD'], { index: file })
  return survey(place, file)
}

async function survey({ git, repository }: Place, index: string): Promise<RawPath[]> {
  const entries = splitRaw(await git.run(['ls-files', '-z', '-v', '--stage'], { index })).map(readEntry)
  const told = async (flag: string, paths: readonly RawPath[]): Promise<void> => {
    if (paths.length > 0) await git.run(['update-index', '-z', flag, '--stdin'], { index, input: joinRaw(paths) })
  }
  const unlooked = entries.filter(({ tag }) => tag !== tag.toUpperCase())
  await told('--no-assume-unchanged', paths(unlooked))
  // Of a sparse checkout these files are not there; where they are, or there is none, somebody hides changes of theirs.
  const skipped = entries.filter(({ tag }) => tag.toUpperCase() === 'S')
  const isSparse = skipped.length > 0 && (await git.ask(ASK_SPARSE)).stdout.toString() === 'true\n'
  const hidden = skipped.filter(({ path }) => !isSparse || lstat(below(repository.top, path)) !== undefined)
  await told('--no-skip-worktree', paths(hidden))
  return paths(entries.filter(({ mode }) => mode === GITLINK))
}

interface Entry {
  readonly tag: string
  readonly mode: string
  readonly path: RawPath
}

/** `H 100644 HASH 0<tab>PATH` */
function readEntry(line: RawPath): Entry {
  return { tag: line.charAt(0), mode: line.slice(2, 8), path: line.slice(line.indexOf('\t') + 1) }
}

function paths(entries: readonly Entry[]): RawPath[] {
  return [...new Set(entries.map(({ path }) => path))]
}
