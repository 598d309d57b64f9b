import fs from 'node:fs'
import { promisify } from 'node:util'
import { hasCode } from '../../lib/errors.ts'
import path from 'node:path'
import { objectFile } from './loose-objects.ts'
import type { RepositoryContext } from './repository-context.ts'

/** Files to sync at the same time; file systems combine several syncs into one write. */
const MAX_PARALLEL = 16

const [open, fsync, close] = [promisify(fs.open), promisify(fs.fsync), promisify(fs.close)]

/** Makes existing files and folders durable. */
export async function syncFiles(files: readonly string[]): Promise<void> {
  const rest = [...files]
  const flush = async (): Promise<void> => {
    for (let file = rest.pop(); file !== undefined; file = rest.pop()) await syncFile(file)
  }
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, files.length) }, flush))
}

async function syncFile(file: string): Promise<void> {
  const fd = await open(file, 'r').catch((cause: unknown) => {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return null
    throw cause
  })
  if (fd === null) return
  try {
    await fsync(fd)
  } finally {
    await close(fd)
  }
}

/** For git commands whose output we sync ourselves: all files at the same time instead of one by one. */
export const NO_FSYNC = ['-c', 'core.fsync=none'] as const

/**
 * Makes objects durable. A sync of a file under its final name syncs the name as well; git 2.39 syncs it under a
 * temporary name and does not sync the folder, so in that case we sync the folder. Objects in a pack are durable
 * already.
 */
export async function syncObjects(
  context: RepositoryContext,
  objects: readonly string[],
  isFlushed = false,
): Promise<void> {
  const files = objects.map(object => objectFile(context.repository.commonDir, object))
  await syncFiles(isFlushed ? [...new Set(files.map(file => path.dirname(file)))] : files)
}

/** Returns the missing objects. */
export async function missingObjects({ git }: RepositoryContext, objects: readonly string[]): Promise<string[]> {
  const input = objects.map(object => `${object}\n`).join('')
  const output = await git.run(['cat-file', '--batch-check=%(objectname)', '--buffer'], { input })
  return output
    .toString()
    .split('\n')
    .filter(line => line.endsWith(' missing'))
}
