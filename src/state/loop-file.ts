import fs from 'node:fs'
import path from 'node:path'
import type { Loop, LoopStage, TaskStateName } from '../core/loop/loop-state.ts'
import { upgradeLoop } from '../core/loop/upgrade-stored-loop.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import {
  amount,
  anything,
  boolean,
  count,
  encodeRecord,
  fields,
  InvalidData,
  instant,
  listOf,
  nullable,
  object,
  oneOf,
  optional,
  type Parser,
  type RecordFormat,
  string,
} from '../lib/codec.ts'
import { Trouble } from '../lib/errors.ts'
import { writeDurably } from '../os/files/file-io.ts'
import { readRecordFile } from '../os/files/json-file.ts'
import { sessionFolder } from './session-folder.ts'
import type { Home } from './home.ts'

/** Returns the folder of a loop's files within its session's folder. */
export function loopFolder(home: Home, sessionId: SessionId): string {
  return path.join(sessionFolder(home, sessionId).root, 'loop')
}

/** Writes the loop's state, atomically and durably. */
export function writeLoop(home: Home, sessionId: SessionId, loop: Loop): void {
  const folder = loopFolder(home, sessionId)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeDurably(path.join(folder, 'loop.json'), encodeRecord(FORMAT, { loop }))
}

/** Returns undefined if the loop has not decided anything yet, if the file is unreadable, and for other sessions. */
export function readLoop(home: Home, sessionId: SessionId): Loop | undefined {
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
export function readLoopOrThrow(home: Home, sessionId: SessionId): Loop | undefined {
  return readRecordFile(path.join(loopFolder(home, sessionId), 'loop.json'), FORMAT, MAX_FILE_SIZE)?.loop
}

/** Bytes; a loop of thousands of tasks is much shorter. */
const MAX_FILE_SIZE = 256 * 1_048_576

/** Checks the fields that the loop's program and board need, and returns the whole record. */
function parseLoop(value: unknown): Loop {
  const loop = upgradeLoop(fields(value))
  const { tasks } = loopOutline(loop)
  if (new Set(tasks.map(({ item }) => item.key)).size < tasks.length) throw new InvalidData('it has a task twice')
  return loop
}

const role = oneOf('task', 'resolve', 'plan')
const failure = object({ kind: string, reason: string, detail: string })
const usage = object({ input: amount, cached: amount, output: amount, usd: nullable(amount), turns: amount })
const iteration = object({
  iteration: count,
  role,
  session: nullable(string),
  since: instant,
  until: nullable(instant),
  spent: usage,
  failure: nullable(failure),
  verdict: nullable(string),
})
const checkout = object({ cwd: string, branch: nullable(string), since: fields })
const STATE_FIELDS: Readonly<Record<TaskStateName, Parser<unknown>>> = {
  open: anything,
  opening: object({ role }),
  working: object({ role, rest: nullable(string) }),
  verifying: object({ role, finalOutput: string, failure: nullable(failure) }),
  merging: object({ role }),
  done: object({ at: instant, how: string }),
  blocked: object({ at: instant, failure }),
  dropped: anything,
}
const STAGE_FIELDS: Readonly<Record<LoopStage['name'], Parser<unknown>>> = {
  beginning: anything,
  planning: object({ tries: count }),
  working: anything,
  landing: anything,
  ended: object({ at: instant, ending: object({ kind: oneOf('done', 'planned', 'unfinished'), reason: string }) }),
}

/** Parses an object whose `name` decides about its other fields. */
function variantOf(known: Readonly<Record<string, Parser<unknown>>>): Parser<void> {
  const named = object({ name: oneOf(...Object.keys(known)) })
  return value => void known[named(value).name]?.(value)
}

const loopOutline = object({
  spec: object({ worker: object({ agent: string }) }),
  stage: variantOf(STAGE_FIELDS),
  tasks: listOf(
    object({
      item: object({ key: string, title: string }),
      state: variantOf(STATE_FIELDS),
      tries: listOf(iteration),
      checkout: nullable(checkout),
      resolution: nullable(checkout),
      conflicts: listOf(string),
      number: count,
      forgivenTries: count,
    }),
  ),
  plan: listOf(iteration),
  marksToWrite: listOf(object({ key: string, isDone: boolean, reason: string })),
  notes: listOf(string),
  retriedTask: optional(string),
  iterations: count,
  createdAt: instant,
})

const FORMAT: RecordFormat<{ readonly loop: Loop }> = { version: 2, parse: object({ loop: parseLoop }) }
