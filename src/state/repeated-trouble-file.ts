import fs from 'node:fs'
import type { RepeatedTrouble } from '../core/describe/repeated-action-failures.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import { instant, numberBetween, object, type Parser, string } from '../lib/codec.ts'
import { replaceFile } from '../os/files/file-io.ts'
import { readJsonCache } from '../os/files/json-file.ts'
import type { Home } from './home.ts'
import { sessionFolder } from './session-folder.ts'

const MAX_FILE_SIZE = 16_384
/** Characters. A reason may contain the output of a program. */
const MAX_TEXT_LENGTH = 1_000

/** Returns the repeated trouble of a session; null if there is none. Needs no supervisor. */
export function readTroubleFile(home: Home, sessionId: SessionId): RepeatedTrouble | null {
  // The next failure replaces a damaged file.
  return readJsonCache(sessionFolder(home, sessionId).trouble, parseTrouble, MAX_FILE_SIZE)
}

const parseTrouble: Parser<RepeatedTrouble> = object({
  doing: string,
  count: numberBetween(1, Number.MAX_SAFE_INTEGER),
  since: instant,
  reason: string,
})

/** Writes nothing for a session that was removed meanwhile. Throws on a full disk. */
export function writeTroubleFile(
  home: Home,
  sessionId: SessionId,
  { doing, count, since, reason }: RepeatedTrouble,
): void {
  const { root, trouble } = sessionFolder(home, sessionId)
  if (!fs.existsSync(root)) return
  const texts = { doing: doing.slice(0, MAX_TEXT_LENGTH), reason: reason.slice(0, MAX_TEXT_LENGTH) }
  replaceFile(trouble, `${JSON.stringify({ ...texts, count, since })}\n`)
}

export function removeTroubleFile(home: Home, sessionId: SessionId): void {
  fs.rmSync(sessionFolder(home, sessionId).trouble, { force: true })
}
