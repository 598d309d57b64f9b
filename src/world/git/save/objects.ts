import path from 'node:path'
import type { Place } from '../place.ts'
import { syncAll } from '../sync-all.ts'

/** For git, where we flush what it has written ourselves: all of it at the same time instead of one by one. */
export const LATER = ['-c', 'core.fsync=none'] as const

/**
 * Makes objects durable. To flush a file that has its name flushes the name as well; git 2.39 flushes it before it has one, and
 * leaves the folder to chance, which is then flushed. Objects that lie in a pack are durable already.
 */
export async function syncObjects(place: Place, objects: readonly string[], isFlushed = false): Promise<void> {
  const files = objects.map(object => fileOf(place, object))
  await syncAll(isFlushed ? [...new Set(files.map(file => path.dirname(file)))] : files)
}

function fileOf({ repository }: Place, object: string): string {
  return path.join(repository.commonDir, 'objects', object.slice(0, 2), object.slice(2))
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
