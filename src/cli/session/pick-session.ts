import type { SessionView } from '../../api/contract/session-view.ts'
import { readSessions } from '../../views/sessions.ts'
import { findSession } from '../find-session.ts'
import { here, type Surroundings } from '../surroundings.ts'

/** The session a command is about, read from disk: looking needs no daemon. */
export function pickSession(
  { home }: Surroundings,
  word: string | undefined,
  fits: (session: SessionView) => boolean = () => true,
): SessionView {
  return choose(readSessions(home), word, fits)
}

/** Without a word, this directory's likeliest session that fits the command; when none does, its likeliest. */
export function choose(
  sessions: readonly SessionView[],
  word: string | undefined,
  fits: (session: SessionView) => boolean,
): SessionView {
  if (word !== undefined) return findSession(sessions, word, hereOrNowhere())
  const cwd = here()
  const fitting = sessions.filter(session => session.cwd === cwd && fits(session))
  return findSession(fitting.length > 0 ? fitting : sessions, undefined, cwd)
}

/** Several at once, each only once; without a word, this directory's. */
export function pickSessions(surroundings: Surroundings, words: readonly string[]): SessionView[] {
  if (words.length === 0) return [pickSession(surroundings, undefined)]
  const sessions = readSessions(surroundings.home)
  return [...new Set(words.map(word => findSession(sessions, word, hereOrNowhere())))]
}

/** A session can be named from a directory that was removed. */
function hereOrNowhere(): string {
  try {
    return here()
  } catch {
    return ''
  }
}
