import type { SessionView } from '../../api/contract/session-view.ts'
import { readSessions } from '../../views/sessions.ts'
import { findSession } from '../find-session.ts'
import { here, type Surroundings } from '../surroundings.ts'

/** The session a command is about, read from disk: looking needs no daemon. */
export function pickSession({ home }: Surroundings, word: string | undefined): SessionView {
  return findSession(readSessions(home), word, word === undefined ? here() : '')
}

/** Several at once, each only once; without a word, this directory's. */
export function pickSessions(surroundings: Surroundings, words: readonly string[]): SessionView[] {
  if (words.length === 0) return [pickSession(surroundings, undefined)]
  const sessions = readSessions(surroundings.home)
  return [...new Set(words.map(word => findSession(sessions, word, '')))]
}
