import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/trouble.ts'

/**
 * Puts new content into somebody's file, as durably: where a link leads to, and with the rights that it has. Nothing is written
 * where nothing is different.
 */
export function rewriteDurably(file: string, change: (content: Buffer) => Uint8Array): void {
  const target = fs.realpathSync(file)
  const content = fs.readFileSync(target)
  const changed = change(content)
  if (!content.equals(changed)) writeDurably(target, changed, fs.statSync(target).mode & 0o7777)
}

/** Writes a file so that after power loss it holds either the old or the new content, and the new once we return. */
export function writeDurably(file: string, content: string | Uint8Array, mode = 0o600): void {
  const draft = `${file}.${process.pid}.tmp`
  withoutLitter(draft, () => {
    const fd = fs.openSync(draft, 'w', 0o600)
    try {
      fs.writeFileSync(fd, content)
      if (mode !== 0o600) fs.fchmodSync(fd, mode)
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(draft, file)
  })
  syncFolder(path.dirname(file))
}

/** Replaces a file in one step, for readers at the same time; not meant to survive power loss. */
export function replaceFile(file: string, content: string | Uint8Array): void {
  const draft = `${file}.${process.pid}.tmp`
  withoutLitter(draft, () => {
    fs.writeFileSync(draft, content, { mode: 0o600 })
    fs.renameSync(draft, file)
  })
}

/** On a full disk what was begun is taken away again. */
function withoutLitter(draft: string, write: () => void): void {
  try {
    write()
  } catch (cause) {
    fs.rmSync(draft, { force: true })
    throw cause
  }
}

/** At most `limit` bytes of a file from `offset` on; nothing when it is not there. */
export function readPart(file: string, offset: number, limit: number): Buffer {
  try {
    const fd = fs.openSync(file, 'r')
    try {
      const size = Math.max(0, Math.min(limit, fs.fstatSync(fd).size - offset))
      const bytes = Buffer.alloc(size)
      return bytes.subarray(0, fs.readSync(fd, bytes, 0, size, offset))
    } finally {
      fs.closeSync(fd)
    }
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return Buffer.alloc(0)
    throw cause
  }
}

/** The last bytes of a file, at most `limit`, as text. */
export function readEnd(file: string, limit: number): string {
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return readPart(file, Math.max(0, size - limit), limit).toString()
}

/** Cuts a file to `length` and appends; answers its new length. Doing it again leads to the same file. */
export function writeFrom(file: string, length: number, text: string): number {
  const fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600)
  try {
    if (fs.fstatSync(fd).size > length) fs.ftruncateSync(fd, length)
    const bytes = Buffer.from(text)
    // A disk that is nearly full takes a part of it without a word, and refuses the rest.
    for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done, bytes.length - done, length + done)
    return length + bytes.length
  } finally {
    fs.closeSync(fd)
  }
}

function syncFolder(folder: string): void {
  const fd = fs.openSync(folder, 'r')
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}
