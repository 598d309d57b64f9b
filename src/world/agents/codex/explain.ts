import fs from 'node:fs'
import type { Failure } from '../../../core/failure.ts'
import type { LastWord } from '../../../core/session.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Ending } from '../../../ports/agent.ts'
import { text } from '../json.ts'
import { failing, failure } from '../last-word.ts'
import { failureOf } from './failure.ts'
import { refusalIn } from './refusal.ts'
import { rolloutOf } from './rollouts.ts'

/** What an end means that codex put into no word, or into a wrong one. */
export function explain(ending: Ending, now: Instant): LastWord | null {
  const { word, exit } = ending
  if (word?.ok === true) return denial(ending)
  if (word !== null) return inTheirZone(word.failure, ending.env['TZ'], now)
  if (exit.kind !== 'code' || exit.code === 0) return null
  const why = complaint(ending.stderr) ?? unfinished(text(ending.memory['error']), now)
  return why === null ? null : failing(why)
}

function denial({ memory, env, stderr }: Ending): LastWord | null {
  const refusal = recordedRefusal(text(memory['thread']), env) ?? REJECTED.exec(stderr)?.[1]
  if (refusal === undefined) return null
  return failing(failure('denied', `codex was not allowed to do it: ${refusal}`, 'give the session more autonomy'))
}

/** Said on stderr where a script of the model keeps it from the record. Where it may write it may matter little. */
const REJECTED = /error=(patch rejected: writing is blocked by read-only sandbox)/

function recordedRefusal(thread: string, env: Ending['env']): string | undefined {
  try {
    const file = thread === '' ? null : rolloutOf(thread, env)
    return file === null ? undefined : (refusalIn(fs.readFileSync(file, 'utf8')) ?? undefined)
  } catch {
    return undefined // Unreadable, so that nothing is proven against the agent's own word.
  }
}

/** The clock times in codex's messages are those of its own time zone, which need not be ours. */
function inTheirZone(why: Failure, zone: string | undefined, now: Instant): LastWord | null {
  if (why.kind !== 'rate-limit' || zone === undefined || zone === '') return null
  const { resetAt } = failureOf(why.text, now, zone.replace(/^:/, ''))
  return resetAt === why.resetAt ? null : failing({ ...why, resetAt })
}

function unfinished(error: string, now: Instant): Failure | null {
  return error === '' ? null : failureOf(error, now)
}

/** What codex says before it exits without having begun a turn. Its log lines begin with the time and do not count. */
function complaint(stderr: string): Failure | null {
  const lines = stderr.split('\n').filter(line => !/^\d{4}-\d\d-\d\dT/.test(line))
  // Another process still writes the thread, or its lock is not yet gone: it may be tried again.
  if (lines.some(line => line.includes('already has an active writer'))) return null
  for (const line of lines) {
    if (/no rollout found/.test(line)) return failure('thread-lost', line)
    if (/^Error: .*(?:not logged in|401|sign in again|codex login)/i.test(line))
      return failure('login', line, 'codex login')
    if (SETUP.test(line)) return failure('setup', line)
  }
  return null
}

const SETUP =
  /^error: |^Error loading config|^Not inside a trusted|^No prompt provided|^Error: (?:Model provider|Input exceeds)/
