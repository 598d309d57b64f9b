import type { Failure } from '../../../core/failure.ts'
import type { LastWord } from '../../../core/session.ts'
import { readable } from '../../../lib/terminal-text.ts'
import type { Ending } from '../../../ports/agent.ts'
import { failing, failure } from '../last-word.ts'

/** What an end means that opencode put into no word, or into a wrong one. */
export function explain({ exit, word, stderr, memory }: Ending): LastWord | null {
  if (exit.kind !== 'code' || word?.ok === false) return null
  const lines = readable(stderr, { colour: false }).split('\n')
  const silence = word === null ? (complaint(lines) ?? standstill(exit.code, memory)) : null
  const why = refusal(lines) ?? silence
  return why === null ? null : failing(why)
}

const ASKED = 'permission requested: '
const REJECTED = '; auto-rejecting'

/** Those of subagents show here only. */
function refusal(lines: readonly string[]): Failure | null {
  const asked = lines.findLast(line => line.lastIndexOf(REJECTED) > line.indexOf(ASKED) && line.includes(ASKED))
  if (asked === undefined) return null
  const from = asked.lastIndexOf(ASKED, asked.lastIndexOf(REJECTED)) + ASKED.length
  const what = asked.slice(from, asked.indexOf(REJECTED, from))
  return failure('denied', `opencode was refused ${what}`, 'give the session more autonomy')
}

/** What opencode says before it exits without having begun a turn. */
function complaint(lines: readonly string[]): Failure | null {
  for (const line of lines) {
    if (line.startsWith('Error: Session not found')) return failure('thread-lost', line)
    if (SETUP.test(line)) return failure('setup', line)
    if (line.startsWith('opencode run [message..]')) {
      return failure('setup', 'opencode prints its help: it does not know an argument it was given')
    }
  }
  return null
}

const SETUP = /^Error: (?:Config|.*not valid JSON|You must provide a message|File not found|Failed to change directory)/

/** opencode 1.18.33 exits 0 when its turn stops after tools were called. */
function standstill(code: number, memory: Ending['memory']): Failure | null {
  if (code !== 0 || typeof memory['thread'] !== 'string') return null
  return failure('empty', 'opencode ended in the midst of its work, after it had called tools')
}
