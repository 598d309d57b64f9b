import type { WorkEvidence } from '../loop/work-evidence.ts'
import type { Outcome } from '../session/session-state.ts'

/** The work of a session, as git shows it. */
export type SessionWork = Omit<WorkEvidence, 'now'>

/** The result of the project's check. */
export type CheckStatus =
  | {
      readonly kind: 'passed' | 'failed' | 'unknown'
      readonly line: string
      readonly how: string
      /** The number of passed tests; absent or null if unknown. */
      readonly tests?: number | null
    }
  /** oneshot found no check in the project. */
  | { readonly kind: 'none' }
  /** The user switched the check off. */
  | { readonly kind: 'off' }

/** All known facts about a session's work. */
export interface VerificationInput {
  readonly state: Outcome | 'at-work'
  /** The reason for that state. */
  readonly reason: string | null
  /** A sentence if git cannot show the work; null if it does not matter. */
  readonly work: SessionWork | string | null
  /** The agent's own last report; null for programs without one. */
  readonly said: string | null
  /** Lines at the end of the output that report a failure. */
  readonly failures: readonly string[]
  /** Null if it does not matter. */
  readonly checked: CheckStatus | null
}

/** The observable facts about the work. */
export type InspectedWork = Pick<VerificationInput, 'work' | 'failures' | 'checked'>

export interface Verification {
  readonly verdict: 'proven' | 'refuted' | 'not-proven'
  /** The verdict with the decisive fact. */
  readonly sentence: string
  /** All objections, the most serious first; then the findings. */
  readonly reasons: readonly string[]
}

interface VerificationProblem {
  readonly verdict: 'refuted' | 'not-proven'
  readonly why: string
}

/**
 * Decides from the observable facts if the work of a session is done. A failing check and a failed session refute it.
 * Otherwise a file must have changed, the session must have ended well, and nothing may be unclear.
 */
export function verifyWork(input: VerificationInput): Verification {
  const [first, ...others] = findProblems(input)
  const found = describeFindings(input)
  if (first === undefined)
    return { verdict: 'proven', sentence: `${successWord(input)}: ${found.join(', ')}`, reasons: found }
  const beside = isWork(input.work) ? found : []
  const aside = beside.length === 0 ? '' : ` (${beside.join(', ')})`
  const sentence = `${VERDICT_WORDS[first.verdict]}: ${first.why}${aside}`
  return { verdict: first.verdict, sentence, reasons: [first.why, ...others.map(({ why }) => why), ...beside] }
}

/** Without a check, or with a check that runs no test, oneshot knows only that files changed. */
function successWord({ checked }: VerificationInput): string {
  const isUntested = checked?.kind === 'none' || checked?.kind === 'off' || isWithoutTests(checked)
  return isUntested ? 'changed, not tested' : 'proven'
}

function isWithoutTests(checked: CheckStatus | null): boolean {
  return checked?.kind === 'passed' && checked.tests === 0
}

const VERDICT_WORDS = { refuted: 'refuted', 'not-proven': 'not proven' } as const

function findProblems(input: VerificationInput): VerificationProblem[] {
  const { work, checked } = input
  const refuted = [
    checked?.kind === 'failed' ? `${quoteCommand(checked.line)} fails` : null,
    describeFailedSession(input),
  ]
  const unproven = [
    typeof work === 'string' ? `oneshot cannot tell what changed: ${work}` : null,
    work !== null && typeof work !== 'string' && !isWork(work) ? 'it changed no file' : null,
    input.state === 'at-work' ? 'it is still running' : null,
    input.state === 'stopped' ? `it did not finish: ${input.reason ?? 'stopped'}` : null,
    checked?.kind === 'unknown' ? checked.how : null,
    describeReportedFailure(input),
  ]
  const because = (verdict: VerificationProblem['verdict']) => (why: string | null) =>
    why === null ? [] : [{ verdict, why }]
  return [...refuted.flatMap(because('refuted')), ...unproven.flatMap(because('not-proven'))]
}

function describeFailedSession({ state, reason }: VerificationInput): string | null {
  if (state === 'failed') return `it failed: ${reason ?? 'no reason is known'}`
  return state === 'gave-up' ? `oneshot gave it up: ${reason ?? 'no reason is known'}` : null
}

/**
 * An agent that ended its turn well has overcome earlier failures, and a passing check is stronger evidence than words.
 */
function describeReportedFailure({ said, failures, checked }: VerificationInput): string | null {
  const last = failures.at(-1)
  if (last === undefined || said !== null || checked?.kind === 'passed') return null
  return `its output reports a failure: ${last}`
}

/** A commit that changes nothing is no work. */
function isWork(work: SessionWork | string | null): work is SessionWork {
  return work !== null && typeof work !== 'string' && work.change.files > 0
}

function describeFindings({ work, checked }: VerificationInput): string[] {
  return [...(isWork(work) ? describeWork(work) : []), ...(checked === null ? [] : describeCheck(checked))]
}

/** Returns `3 commits`, `12 files`, `2 of them not committed`. */
function describeWork({ commitCount, change, uncommitted }: SessionWork): string[] {
  const { files } = change
  const rest = uncommitted >= files ? 'not committed' : `${uncommitted} of them not committed`
  const commits = commitCount === 0 ? [] : [formatCount(commitCount, 'commit')]
  return [...commits, formatCount(files, 'file'), ...(uncommitted === 0 ? [] : [rest])]
}

function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function describeCheck(checked: CheckStatus): string[] {
  switch (checked.kind) {
    case 'passed':
      return [`${quoteCommand(checked.line)} passes${isWithoutTests(checked) ? ', but runs no test' : ''}`]
    case 'failed':
    case 'unknown':
      return []
    case 'none':
      return ['the project has no check']
    case 'off':
      return ['no check was run']
  }
}

/** Quotes a command line that could read like a part of the sentence around it. */
function quoteCommand(line: string): string {
  return /^[\w@%+=:,./ -]+$/.test(line) ? line : `“${line}”`
}

/** Lines that programs write when something has failed, whatever their exit code. */
const FAILURE_PATTERNS: readonly RegExp[] = [
  /^(?:[\w./-]+: )?(?:error|fatal|panic)(?:\[\w+\])?:/i,
  /^(?:Uncaught )?[A-Z]\w*(?:Error|Exception)\b.*:/,
  /^Traceback \(most recent call last\)/,
  /^npm (?:ERR!|error)/,
  /^[✗✖✘❌×]/u,
  /^(?:\[?(?:FAIL|FAILED|ERROR|FATAL)\]?)(?:[\s:]|$)/,
  /\b[1-9]\d* (?:\w+ )?(?:failed|failing|failures?|errors?)\b/i,
  /\b(?:task|build|tests?|command|job|iteration|story|merge|commit|push)s? (?:\S+ )?(?:has |have )?failed\b/i,
  /\b(?:could not|cannot|can't|unable to|failed to) (?:be )?(?:complete|commit|finish|push|merge|continue)/i,
  /\b(?:rate|usage) limit (?:was |is )?(?:reached|exceeded|hit)\b/i,
  /\bmax(?:imum)?(?: number of)? (?:iterations|retries|attempts) (?:reached|exceeded)\b/i,
]
/** Phrases that state that nothing has failed. */
const DENIALS = /\b(?:0|no|without|zero) (?:\w+ )?(?:failed|failing|failures?|errors?)\b/gi
/** Sentences quote whole lines, so their length in characters has a limit. */
const MAX_LINE_LENGTH = 200

/** Returns those of these lines that report a failure, trimmed. */
export function findFailureLines(lines: readonly string[]): string[] {
  return lines.map(line => line.trim().slice(0, MAX_LINE_LENGTH)).filter(reportsFailure)
}

function reportsFailure(line: string): boolean {
  const said = line.replace(DENIALS, '')
  return FAILURE_PATTERNS.some(form => form.test(said))
}
