/** What programs write when something has failed, whatever their exit code says. */
const FAILURES: readonly RegExp[] = [
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
/** Nothing has failed where it is said that none has. */
const DENIALS = /\b(?:0|no|without|zero) (?:\w+ )?(?:failed|failing|failures?|errors?)\b/gi
/** Lines are quoted whole in sentences. */
const LONGEST = 200

/** Those of these lines that tell of failure, trimmed. */
export function failuresIn(lines: readonly string[]): string[] {
  return lines.map(line => line.trim().slice(0, LONGEST)).filter(tellsOfFailure)
}

function tellsOfFailure(line: string): boolean {
  const said = line.replace(DENIALS, '')
  return FAILURES.some(form => form.test(said))
}
