import fs from 'node:fs'
import { hasCode } from '../../lib/trouble.ts'

/** Flushed at the same time; file systems make one write of several. */
const AT_ONCE = 16

/** Makes files and folders durable, as far as they are there. */
export async function syncAll(files: readonly string[]): Promise<void> {
  const rest = [...files]
  const flush = async (): Promise<void> => {
    for (let file = rest.pop(); file !== undefined; file = rest.pop()) await sync(file)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, flush))
}

async function sync(file: string): Promise<void> {
  let handle: fs.promises.FileHandle | undefined
  try {
    handle = await fs.promises.open(file, 'r')
    await handle.sync()
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'ENOTDIR')) throw cause
  } finally {
    await handle?.close()
  }
}
