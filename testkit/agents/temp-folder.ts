import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** Returns the path, without symbolic links, of a folder that is removed after the test. */
export function tempFolder(): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'os-agents-')))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

/** Writes a file and creates its folders. Returns its path. */
export function put(file: string, content: string | Buffer = ''): string {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
  return file
}
