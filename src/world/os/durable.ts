import fs from 'node:fs'
import path from 'node:path'

/** Writes a file so that after power loss it holds either the old or the new content, and the new once we return. */
export function writeDurably(file: string, content: string | Uint8Array): void {
  const draft = `${file}.${process.pid}.tmp`
  const fd = fs.openSync(draft, 'w', 0o600)
  try {
    fs.writeFileSync(fd, content)
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
  fs.renameSync(draft, file)
  syncFolder(path.dirname(file))
}

/** Replaces a file in one step, for readers at the same time; not meant to survive power loss. */
export function replaceFile(file: string, content: string | Uint8Array): void {
  const draft = `${file}.${process.pid}.tmp`
  fs.writeFileSync(draft, content, { mode: 0o600 })
  fs.renameSync(draft, file)
}

function syncFolder(folder: string): void {
  const fd = fs.openSync(folder, 'r')
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}
