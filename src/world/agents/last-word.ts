import type { Failure, FailureKind } from '../../core/failure.ts'
import type { LastWord } from '../../core/session.ts'
import { endsOf } from '../../lib/ends-of.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { cut } from './telling.ts'

/** A failure that no limit's end is known of. */
export function failure(kind: FailureKind, sentence: string, remedy: string | null = null): Failure {
  return { kind, text: oneLine(endsOf(sentence, 4_096)), resetAt: null, remedy }
}

export function failing(why: Failure): LastWord {
  return { ok: false, text: why.text, failure: why }
}

/** The last word is for a line of a table; whoever wants all of it reads the transcript. */
export function brief(line: string): string {
  return cut(line, 1000)
}
