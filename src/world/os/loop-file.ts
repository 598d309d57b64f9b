import fs from 'node:fs'
import path from 'node:path'
import type { Loop } from '../../core/loop/loop.ts'
import { hasCode, Trouble, wordsOf } from '../../lib/trouble.ts'
import { writeDurably } from './files.ts'
import { sessionFolder } from './folders.ts'
import type { Home } from './home.ts'

/** Raised when what is written is no longer understood by the version before. */
const VERSION = 1

/** What a loop keeps beside the other files of its session. */
export function loopFolder(home: Home, sessionId: string): string {
  return path.join(sessionFolder(home, sessionId).root, 'loop')
}

/** Writes a loop down, whole and durably. */
export function recordLoop(home: Home, sessionId: string, loop: Loop): void {
  const folder = loopFolder(home, sessionId)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeDurably(path.join(folder, 'loop.json'), JSON.stringify({ version: VERSION, loop }))
}

/** Undefined where nothing was decided yet, where it cannot be read, and for sessions that are no loop. */
export function readLoop(home: Home, sessionId: string): Loop | undefined {
  try {
    return readOwnLoop(home, sessionId)
  } catch (cause) {
    if (cause instanceof Trouble) return undefined
    throw cause
  }
}

/** For the program of the loop: a file that is there and cannot be understood is no new loop. It stays as it is. */
export function readOwnLoop(home: Home, sessionId: string): Loop | undefined {
  const file = path.join(loopFolder(home, sessionId), 'loop.json')
  const unreadable = (why: string): Trouble =>
    new Trouble(`reading ${file}`, `${why}; the file is kept as it is`, { mayHelpToRetry: false })
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return undefined
    throw unreadable(wordsOf(cause))
  }
  const { version, loop } = parsed(text)
  if (version !== undefined && version > VERSION)
    throw unreadable(`a newer oneshot wrote it (version ${version}, this one knows ${VERSION}): oneshot update`)
  if (loop?.spec === undefined || !Array.isArray(loop.tasks)) throw unreadable('it is damaged')
  return loop
}

function parsed(text: string): { version?: number; loop?: Loop } {
  try {
    return (JSON.parse(text) ?? {}) as { version?: number; loop?: Loop }
  } catch {
    return {} // Told as damaged.
  }
}
