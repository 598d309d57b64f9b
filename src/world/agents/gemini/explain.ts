import type { FailureKind } from '../../../core/failure.ts'
import type { LastWord } from '../../../core/session.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import type { Ending } from '../../../ports/agent.ts'
import { LOGIN_REMEDY } from './failure.ts'

/** What gemini complained of before it had a turn to end. */
export function explain({ exit, word, stderr }: Ending): LastWord | null {
  if (word !== null || exit.kind !== 'code') return null
  const lines = stderr.split('\n').map(oneLine)
  for (const { sign, kind, remedy } of COMPLAINTS) {
    const text = lines.find(line => sign.test(line))
    if (text !== undefined) return { ok: false, text, failure: { kind, text, resetAt: null, remedy } }
  }
  return null
}

const COMPLAINTS: readonly { sign: RegExp; kind: FailureKind; remedy: string | null }[] = [
  // A thread that was begun but in which nothing was said can be neither begun nor resumed (0.61.0): only left.
  { sign: /Session ID .* already exists/, kind: 'thread-lost', remedy: null },
  { sign: /Invalid session identifier|No previous sessions found/, kind: 'thread-lost', remedy: null },
  {
    sign: /GEMINI_API_KEY environment variable|set an Auth method|login required/i,
    kind: 'login',
    remedy: LOGIN_REMEDY,
  },
  { sign: /^Unknown arguments?:|^Invalid values:/, kind: 'setup', remedy: null },
  { sign: /not running in a trusted directory/, kind: 'setup', remedy: null },
]
