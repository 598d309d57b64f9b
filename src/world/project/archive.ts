import fs from 'node:fs'
import { pipeline } from 'node:stream/promises'
import zlib from 'node:zlib'
import { draftName, renameOver } from '../os/files.ts'
import type { Folder } from '../os/open-folder.ts'

/** Fast rather than small: what a program writes without end is mostly the same. */
const LEVEL = 1
const CHUNK = 262_144

/** Compresses a log into `session.log.N.gz`, off the main thread; whole or not at all. Doing it again leads to the same. */
export async function archive(
  folder: Folder,
  options: { fd: number; number: number; ending: AbortSignal },
): Promise<void> {
  const { fd, number, ending } = options
  const draft = draftName('session.log.gz')
  const source = fs.createReadStream('', { fd, autoClose: false, start: 0, highWaterMark: CHUNK })
  const target = fs.createWriteStream(folder.at(draft), { flags: 'wx', mode: 0o600 })
  try {
    await pipeline(source, zlib.createGzip({ level: LEVEL, chunkSize: CHUNK }), target, { signal: ending })
    renameOver(folder, draft, nameOf(number))
  } catch (cause) {
    fs.rmSync(folder.at(draft), { force: true })
    throw cause
  }
}

export function hasArchive(folder: Folder, number: number): boolean {
  return fs.lstatSync(folder.at(nameOf(number)), { throwIfNoEntry: false })?.isFile() ?? false
}

function nameOf(number: number): string {
  return `session.log.${number}.gz`
}
