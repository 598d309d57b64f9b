import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that is gone when the test is over, by its path without symbolic links. */
export function tempFolder(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'os-agents-')))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

/** Writes a file, and the folders it is to lie in; answers its path. */
export function put(file: string, content: string | Buffer = ''): string {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
  return file
}
