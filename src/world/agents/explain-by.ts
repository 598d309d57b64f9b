import type { FailureKind } from '../../core/failure.ts'
import type { LastWord } from '../../core/session.ts'
import { endsOf } from '../../lib/ends-of.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Ending } from '../../ports/agent.ts'
import { failing, failure } from './last-word.ts'

interface Complaint {
  readonly sign: RegExp
  readonly kind: FailureKind
  /** Said instead of the line itself, where the line does not tell what is wrong. */
  readonly text?: string
  readonly remedy?: string
}

/** Explains an end that no turn came before, by the first of these that stands on stderr. */
export function explainBy(complaints: readonly Complaint[]): (ending: Ending) => LastWord | null {
  return ({ exit, word, stderr }) => {
    if (word !== null || exit.kind !== 'code') return null
    const lines = stderr.split('\n').map(line => oneLine(endsOf(line, 2_048)))
    for (const { sign, kind, text, remedy } of complaints) {
      const line = lines.find(line => sign.test(line))
      if (line !== undefined) return failing(failure(kind, text ?? line.replace(/^Error: /, ''), remedy))
    }
    return null
  }
}
