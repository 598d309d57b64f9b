import fs from 'node:fs'
import type { Failure } from '../../../core/session/failure.ts'
import type { TurnResult } from '../../../core/session/session.ts'
import type { Instant } from '../../../lib/time.ts'
import type { ExitEvidence } from '../../../ports/agent.ts'
import { asString } from '../shared/json.ts'
import { failedTurn, makeFailure } from '../shared/failed-turn.ts'
import { classifyError } from './failure.ts'
import { findDeniedTool } from './denied-tool.ts'
import { findRollout } from './find-thread.ts'

/** Explains an exit for which codex reported no turn result, or a wrong one. */
export function explainExit(evidence: ExitEvidence, now: Instant): TurnResult | null {
  const { word, exit } = evidence
  if (word?.ok === true) return findDenial(evidence)
  if (word !== null) return resetInAgentZone(word.failure, evidence.env['TZ'], now)
  if (exit.kind !== 'code' || exit.code === 0) return null
  const failure = findStderrFailure(evidence.stderr) ?? failureOfTurn(asString(evidence.memory['error']), now)
  return failure === null ? null : failedTurn(failure)
}

function findDenial({ memory, env, stderr }: ExitEvidence): TurnResult | null {
  const denied = readRecordedDenial(asString(memory['thread']), env) ?? REJECTED_PATCH.exec(stderr)?.[1]
  if (denied === undefined) return null
  return failedTurn(
    makeFailure('denied', `codex was not allowed to do it: ${denied}`, 'give the session more autonomy'),
  )
}

/**
 * codex writes this line on stderr when a script of the model hides the refusal from the rollout. It counts only in a
 * read-only sandbox: where codex may write, the refusal may not matter.
 */
const REJECTED_PATCH = /error=(patch rejected: writing is blocked by read-only sandbox)/

function readRecordedDenial(thread: string, env: ExitEvidence['env']): string | undefined {
  try {
    const file = thread === '' ? null : findRollout(thread, env)
    return file === null ? undefined : (findDeniedTool(fs.readFileSync(file, 'utf8')) ?? undefined)
  } catch {
    return undefined // An unreadable rollout proves nothing against the agent's own result.
  }
}

/** The clock times in codex's messages are in the time zone of the agent, which may differ from ours. */
function resetInAgentZone(failure: Failure, zone: string | undefined, now: Instant): TurnResult | null {
  if (failure.kind !== 'rate-limit' || zone === undefined || zone === '') return null
  const { resetAt } = classifyError(failure.text, now, zone.replace(/^:/, ''))
  return resetAt === failure.resetAt ? null : failedTurn({ ...failure, resetAt })
}

function failureOfTurn(error: string, now: Instant): Failure | null {
  return error === '' ? null : classifyError(error, now)
}

/**
 * Finds the error that codex prints when it exits before a turn began. Its log lines begin with the time and do not
 * count.
 */
function findStderrFailure(stderr: string): Failure | null {
  const lines = stderr.split('\n').filter(line => !/^\d{4}-\d\d-\d\dT/.test(line))
  // Another process still writes the thread, or its lock still exists: a retry may succeed.
  if (lines.some(line => line.includes('already has an active writer'))) return null
  for (const line of lines) {
    if (/no rollout found/.test(line)) return makeFailure('thread-lost', line)
    if (/^Error: .*(?:not logged in|401|sign in again|codex login)/i.test(line))
      return makeFailure('login', line, 'codex login')
    if (SETUP_ERRORS.test(line)) return makeFailure('setup', line)
  }
  return null
}

const SETUP_ERRORS =
  /^error: |^Error loading config|^Not inside a trusted|^No prompt provided|^Error: (?:Model provider|Input exceeds)/
