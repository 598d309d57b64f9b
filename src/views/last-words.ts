import fs from 'node:fs'
import type { SessionView } from '../api/contract/session-view.ts'
import { failuresIn } from '../core/failure-lines.ts'
import { secretsIn } from '../lib/mask/env-secrets.ts'
import { Mask } from '../lib/mask/mask.ts'
import { sessionFolder } from '../world/os/folders.ts'
import { type Home, homeExists } from '../world/os/home.ts'
import { readOne } from '../world/store/read.ts'
import { readLog } from './log.ts'

/** The end of a log tells most. */
const LINES = 40
const LONGEST_WORD = 4_000

export interface LastWords {
  /** The agent's own; null where it had none. */
  readonly said: string | null
  /** The last lines of the output. */
  readonly output: readonly string[]
  /** Those of them that tell of failure. */
  readonly failures: readonly string[]
}

/** What a session said at its end, secrets hidden. */
export async function lastWordsOf(home: Home, session: SessionView): Promise<LastWords> {
  const mask = new Mask(secretsIn(environmentOf(home, session.id)))
  const word = homeExists(home) ? readOne(home, session.id)?.lastWord : null
  const chunks: Uint8Array[] = []
  for await (const bytes of readLog(home, session, { raw: false, colour: false, lines: LINES })) chunks.push(bytes)
  const text = mask.hide(Buffer.concat(chunks).toString()).trimEnd()
  const output = text === '' ? [] : text.split('\n').slice(-LINES)
  const said = word ? mask.hide(word.text.slice(-LONGEST_WORD)).trim() : null
  return { said, output, failures: failuresIn(output) }
}

export function environmentOf(home: Home, id: string): Record<string, string> {
  try {
    return JSON.parse(fs.readFileSync(sessionFolder(home, id).env, 'utf8')) as Record<string, string>
  } catch {
    return {} // It was removed with the session: secrets of a known form are hidden all the same.
  }
}
