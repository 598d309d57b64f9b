import fs from 'node:fs'
import path from 'node:path'
import type { Loop } from '../core/loop/loop.ts'
import { hasCode, Trouble, errorMessage } from '../lib/errors.ts'
import { writeDurably } from '../os/files/file-io.ts'
import { sessionFolder } from './session-folder.ts'
import type { Home } from './home.ts'

/** Increased when the previous version could no longer read the file. */
const VERSION = 1

/** Returns the folder of a loop's files within its session's folder. */
export function loopFolder(home: Home, sessionId: string): string {
  return path.join(sessionFolder(home, sessionId).root, 'loop')
}

/** Writes the loop's state, atomically and durably. */
export function writeLoop(home: Home, sessionId: string, loop: Loop): void {
  const folder = loopFolder(home, sessionId)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeDurably(path.join(folder, 'loop.json'), JSON.stringify({ version: VERSION, loop }))
}

/** Returns undefined if the loop has not decided anything yet, if the file is unreadable, and for other sessions. */
export function readLoop(home: Home, sessionId: string): Loop | undefined {
  try {
    return readLoopOrThrow(home, sessionId)
  } catch (cause) {
    if (cause instanceof Trouble) return undefined
    throw cause
  }
}

/**
 * Reads the file for the loop's program. Throws if the file exists and is unreadable: it must not start as a new loop.
 * The file stays as it is.
 */
export function readLoopOrThrow(home: Home, sessionId: string): Loop | undefined {
  const file = path.join(loopFolder(home, sessionId), 'loop.json')
  const unreadable = (why: string): Trouble =>
    new Trouble(`reading ${file}`, `${why}; the file is kept as it is`, { mayHelpToRetry: false })
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return undefined
    throw unreadable(errorMessage(cause))
  }
  const { version, loop } = parseLoopFile(text)
  if (version !== undefined && version > VERSION)
    throw unreadable(`a newer oneshot wrote it (version ${version}, this one knows ${VERSION}): oneshot update`)
  if (!isLoopRecord(loop)) throw unreadable('it is damaged')
  return loop
}

function parseLoopFile(text: string): { version?: number; loop?: unknown } {
  try {
    return Object(JSON.parse(text)) as { version?: number; loop?: unknown }
  } catch {
    return {} // The caller reports the file as damaged.
  }
}

/**
 * Returns true if the value has all fields that the loop's program and board need. Fields of later versions may be
 * missing.
 */
function isLoopRecord(value: unknown): value is Loop {
  const { spec, stage, tasks, plan, toMark, notes, iterations, createdAt } = asRecord(value)
  const lists = [tasks, plan, toMark, notes]
  const hasNumbers = typeof iterations === 'number' && typeof createdAt === 'number'
  if (!hasNumbers || !lists.every(Array.isArray) || typeof asRecord(stage)['name'] !== 'string') return false
  return typeof asRecord(asRecord(spec)['worker'])['agent'] === 'string' && (tasks as unknown[]).every(isTaskRecord)
}

function isTaskRecord(value: unknown): boolean {
  const { item, stand, tries, number } = asRecord(value)
  const { key, title } = asRecord(item)
  const isNamed = typeof key === 'string' && typeof title === 'string' && typeof number === 'number'
  return isNamed && typeof asRecord(stand)['name'] === 'string' && Array.isArray(tries)
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Record<string, unknown>
}
