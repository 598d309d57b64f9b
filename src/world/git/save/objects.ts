import path from 'node:path'
import type { Place } from '../place.ts'
import { syncAll } from '../sync-all.ts'

/** For git, where we flush what it has written ourselves: all of it at the same time instead of one by one. */
export const LATER = ['-c', 'core.fsync=none'] as const

/**
 * Makes objects durable: their content, where git has not done that, and the folders that name them, which git 2.39 leaves to
 * chance. Those that lie in a pack are durable already.
 */
export async function syncObjects(place: Place, objects: readonly string[], isFlushed = false): Promise<void> {
  const files = objects.map(object => fileOf(place, object))
  const folders = new Set(files.map(file => path.dirname(file)))
  await syncAll([...(isFlushed ? [] : files), ...folders])
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
