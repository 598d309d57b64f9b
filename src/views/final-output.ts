import type { SessionView } from '../api/contract/responses.ts'
import { findFailureLines } from '../core/policy/verify.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import { findEnvSecrets } from '../lib/mask/env-secrets.ts'
import { Mask } from '../lib/mask/mask.ts'
import { findEnvironment } from '../state/env-file.ts'
import { type Home, homeExists } from '../state/home.ts'
import { readStoredSession } from '../world/store/reader.ts'
import { readLog } from './output-log.ts'

/** The end of a log is the most informative part. */
const OUTPUT_LINES = 40
const MAX_RESULT_LENGTH = 4_000

export interface FinalOutput {
  /** The agent's last message; null without one. */
  readonly said: string | null
  /** The last lines of the output. */
  readonly output: readonly string[]
  /** The lines among them that report a failure. */
  readonly failures: readonly string[]
}

/** Reads the last message and output of a session, with secrets masked. */
export async function readFinalOutput(home: Home, session: SessionView): Promise<FinalOutput> {
  const mask = sessionMask(home, session.id)
  const turnResult = homeExists(home) ? readStoredSession(home, session.id)?.attempt.result : null
  const chunks: Uint8Array[] = []
  for await (const bytes of readLog(home, session, { raw: false, colour: false, lines: OUTPUT_LINES }))
    chunks.push(bytes)
  const text = mask.maskText(Buffer.concat(chunks).toString()).trimEnd()
  const output = text === '' ? [] : text.split('\n').slice(-OUTPUT_LINES)
  const said = turnResult ? mask.maskText(turnResult.text.slice(-MAX_RESULT_LENGTH)).trim() : null
  return { said, output, failures: findFailureLines(output) }
}

/**
 * Returns the mask for a session's secrets. If the session was removed, the mask still recognises secrets of a known
 * form. Throws if the environment is damaged: nobody may print a text with unknown secrets.
 */
export function sessionMask(home: Home, id: SessionId): Mask {
  return new Mask(findEnvSecrets(findEnvironment(home, id) ?? {}))
}
