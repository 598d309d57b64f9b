import fs from 'node:fs'
import type { RepeatedTrouble } from '../core/describe/repeated-trouble.ts'
import { readPart, replaceFile } from '../os/files/file-io.ts'
import type { Home } from './home.ts'
import { sessionFolder } from './session-folder.ts'

const MAX_FILE_SIZE = 16_384
/** Characters. A reason may contain the output of a program. */
const MAX_TEXT_LENGTH = 1_000
/** The last instant that a date can express. */
const LAST_INSTANT = 8.64e15

/** Returns the repeated trouble of a session; null if there is none. Needs no supervisor. */
export function readTroubleFile(home: Home, sessionId: string): RepeatedTrouble | null {
  const { trouble } = sessionFolder(home, sessionId)
  if (!fs.existsSync(trouble)) return null
  try {
    return parseTrouble(JSON.parse(readPart(trouble, 0, MAX_FILE_SIZE).toString()))
  } catch {
    return null // The file is incomplete or unreadable; the next failure replaces it.
  }
}

function parseTrouble(value: unknown): RepeatedTrouble | null {
  const { doing, count, since, reason } = Object(value) as Partial<Record<keyof RepeatedTrouble, unknown>>
  if (typeof doing !== 'string' || typeof reason !== 'string') return null
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 1) return null
  if (typeof since !== 'number' || !(Math.abs(since) <= LAST_INSTANT)) return null
  return { doing, count, since, reason }
}

/** Writes nothing for a session that was removed meanwhile. Throws on a full disk. */
export function writeTroubleFile(
  home: Home,
  sessionId: string,
  { doing, count, since, reason }: RepeatedTrouble,
): void {
  const { root, trouble } = sessionFolder(home, sessionId)
  if (!fs.existsSync(root)) return
  const texts = { doing: doing.slice(0, MAX_TEXT_LENGTH), reason: reason.slice(0, MAX_TEXT_LENGTH) }
  replaceFile(trouble, `${JSON.stringify({ ...texts, count, since })}\n`)
}

export function removeTroubleFile(home: Home, sessionId: string): void {
  fs.rmSync(sessionFolder(home, sessionId).trouble, { force: true })
}
