import { type Failure, type FailureKind, parseFailure } from '../../../core/session/failure.ts'
import type { TurnResult } from '../../../core/session/attempt.ts'
import { boolean, object, oneOf, optional, string } from '../../../lib/codec.ts'
import { headAndTail } from '../../../lib/text/head-and-tail.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import { truncate } from './transcript-lines.ts'
import type { ExitEvidence } from '../../../ports/agent.ts'

/** Makes a failure without a known reset time. */
export function makeFailure(kind: FailureKind, sentence: string, remedy: string | null = null): Failure {
  return { kind, text: toOneLine(headAndTail(sentence, 4_096)), resetAt: null, remedy }
}

export function failedTurn(failure: Failure): TurnResult {
  return { ok: false, text: failure.text, failure }
}

/** The turn result goes into a line of a table; the transcript holds all of it. */
export function truncateResult(line: string): string {
  return truncate(line, 1000)
}

interface StderrPattern {
  readonly sign: RegExp
  readonly kind: FailureKind
  /** The text to report instead of the line, if the line does not show the problem. */
  readonly text?: string
  readonly remedy?: string
}

/** Explains an exit before any turn by the first of these patterns that matches stderr. */
export function explainByStderr(patterns: readonly StderrPattern[]): (evidence: ExitEvidence) => TurnResult | null {
  return ({ exit, word, stderr }) => {
    if (word !== null || exit.kind !== 'code') return null
    const lines = stderr.split('\n').map(line => toOneLine(headAndTail(line, 2_048)))
    for (const { sign: pattern, kind, text, remedy } of patterns) {
      const line = lines.find(line => pattern.test(line))
      if (line !== undefined) return failedTurn(makeFailure(kind, text ?? line.replace(/^Error: /, ''), remedy))
    }
    return null
  }
}

const outcome = object({ ok: boolean })
const parseSuccess = object({ ok: oneOf(true), text: string, isVerdict: optional(oneOf(true)) })
const parseFailedTurn = object({ ok: oneOf(false), text: string, failure: parseFailure })

/** Reads a turn result from a stored parser state. */
export function parseTurnResult(value: unknown): TurnResult {
  return outcome(value).ok ? parseSuccess(value) : parseFailedTurn(value)
}
