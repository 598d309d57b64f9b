import fs from 'node:fs'
import path from 'node:path'
import type { Loop } from '../../core/loop/loop.ts'
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

/** Undefined where nothing was decided yet, and for sessions that are no loop. */
export function readLoop(home: Home, sessionId: string): Loop | undefined {
  try {
    const text = fs.readFileSync(path.join(loopFolder(home, sessionId), 'loop.json'), 'utf8')
    return (JSON.parse(text) as { loop: Loop }).loop
  } catch {
    return undefined // It is written whole or not at all.
  }
}
