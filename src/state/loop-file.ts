import fs from 'node:fs'
import path from 'node:path'
import type { Loop } from '../core/loop/loop-state.ts'
import { upgradeLoop } from '../core/loop/upgrade.ts'
import {
  anything,
  count,
  encodeRecord,
  fields,
  instant,
  listOf,
  object,
  type RecordFormat,
  string,
} from '../lib/codec.ts'
import { Trouble } from '../lib/errors.ts'
import { writeDurably } from '../os/files/file-io.ts'
import { readRecordFile } from '../os/files/json-file.ts'
import { sessionFolder } from './session-folder.ts'
import type { Home } from './home.ts'

/** Returns the folder of a loop's files within its session's folder. */
export function loopFolder(home: Home, sessionId: string): string {
  return path.join(sessionFolder(home, sessionId).root, 'loop')
}

/** Writes the loop's state, atomically and durably. */
export function writeLoop(home: Home, sessionId: string, loop: Loop): void {
  const folder = loopFolder(home, sessionId)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeDurably(path.join(folder, 'loop.json'), encodeRecord(FORMAT, { loop }))
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
  return readRecordFile(path.join(loopFolder(home, sessionId), 'loop.json'), FORMAT, MAX_FILE_SIZE)?.loop
}

/** Bytes; a loop of thousands of tasks is much shorter. */
const MAX_FILE_SIZE = 256 * 1_048_576

/**
 * Checks the fields that the loop's program and board need at once, and returns the whole record. A full check would
 * repeat each type of a loop: only this user can write the file, and oneshot replaces it atomically.
 */
function parseLoop(value: unknown): Loop {
  const loop = upgradeLoop(fields(value))
  loopOutline(loop)
  return loop
}

const named = object({ name: string })
const loopOutline = object({
  spec: object({ worker: object({ agent: string }) }),
  stage: named,
  tasks: listOf(
    object({ item: object({ key: string, title: string }), state: named, tries: listOf(anything), number: count }),
  ),
  plan: listOf(anything),
  marksToWrite: listOf(anything),
  notes: listOf(string),
  iterations: count,
  createdAt: instant,
})

const FORMAT: RecordFormat<{ readonly loop: Loop }> = { version: 2, parse: object({ loop: parseLoop }) }
