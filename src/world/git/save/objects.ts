import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../../lib/trouble.ts'
import { syncFolder } from '../../os/files.ts'
import type { Place } from '../place.ts'

/** For git, where we flush what it has written ourselves: all of it at the same time instead of one by one. */
export const LATER = ['-c', 'core.fsync=none'] as const

/** Files that are flushed at the same time; file systems make one write of several. */
const AT_ONCE = 16

/**
 * Makes objects durable: their content, where git has not done that, and the folders that name them, which git 2.39 leaves to
 * chance. Those that lie in a pack are durable already.
 */
export async function syncObjects(place: Place, objects: readonly string[], isFlushed = false): Promise<void> {
  const files = objects.map(object => fileOf(place, object))
  const rest = isFlushed ? [] : [...files]
  const flush = async (): Promise<void> => {
    for (let file = rest.pop(); file !== undefined; file = rest.pop()) await syncFile(file)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, flush))
  for (const folder of new Set(files.map(file => path.dirname(file)))) if (fs.existsSync(folder)) syncFolder(folder)
}

function fileOf({ repository }: Place, object: string): string {
  return path.join(repository.commonDir, 'objects', object.slice(0, 2), object.slice(2))
}

async function syncFile(file: string): Promise<void> {
  let handle: fs.promises.FileHandle | undefined
  try {
    handle = await fs.promises.open(file, 'r')
    await handle.sync()
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT')) throw cause
  } finally {
    await handle?.close()
  }
}

/** Those that are not there. */
export async function missingObjects({ git }: Place, objects: readonly string[]): Promise<string[]> {
  const input = objects.map(object => `${object}\n`).join('')
  const said = await git.run(['cat-file', '--batch-check=%(objectname)', '--buffer'], { input })
  return said
    .toString()
    .split('\n')
    .filter(line => line.endsWith(' missing'))
}
