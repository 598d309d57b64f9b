import fs from 'node:fs'
import { promisify } from 'node:util'
import { hasCode } from '../../lib/trouble.ts'

/** Flushed at the same time; file systems make one write of several. */
const AT_ONCE = 16

const [open, fsync, close] = [promisify(fs.open), promisify(fs.fsync), promisify(fs.close)]

/** Makes files and folders durable, as far as they are there. */
export async function syncAll(files: readonly string[]): Promise<void> {
  const rest = [...files]
  const flush = async (): Promise<void> => {
    for (let file = rest.pop(); file !== undefined; file = rest.pop()) await sync(file)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, files.length) }, flush))
}

async function sync(file: string): Promise<void> {
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
