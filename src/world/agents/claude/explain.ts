import type { Failure } from '../../../core/failure.ts'
import type { LastWord } from '../../../core/session.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import type { Ending } from '../../../ports/agent.ts'
import { failing, failure } from '../last-word.ts'
import { recall, wordOf } from './mind.ts'
import { LOST } from './turn-ended.ts'

/** What an end means that claude put into no word. One without any stays a crash: also when it exits 0 after an interrupt. */
export function explain({ exit, word, stderr, memory }: Ending): LastWord | null {
  if (word !== null || exit.kind !== 'code') return null
  // It waits ten minutes for its background tasks, then ends them and itself.
  if (exit.code === 0) return recall(memory).isHeld ? wordOf(recall(memory)) : null
  const why = complaintIn(stderr)
  return why === null ? null : failing(why)
}

function complaintIn(stderr: string): Failure | null {
  for (const line of stderr.split('\n').map(oneLine)) {
    if (LOST.test(line)) return failure('thread-lost', line)
    // Killed before it wrote down the first message, it can neither resume the thread nor begin one of that id.
    if (/^Error: Session ID \S+ is already in use/.test(line)) return failure('thread-lost', line)
    if (line.includes('cannot be used with root/sudo')) return failure('setup', line, ROOT)
    if (SETUP.test(line)) return failure('setup', line)
  }
  return null
}

const ROOT = 'give it IS_SANDBOX=1 if this machine is a sandbox, or --autonomy edits, or run it as an ordinary user'

const SETUP =
  /^error: |^Error: (?:Settings file not found|Invalid MCP configuration|Invalid session ID|Input must be provided)|^--agent '.*' not found/
