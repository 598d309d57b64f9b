import type { Session } from '../core/session.ts'
import type { Checkpoints } from '../ports/checkpoints.ts'
import { keepingOf } from '../ports/keeping-of.ts'

const MOST_COMMITS = 20
/** Of files that changed; more say little. */
const MOST_LINES = 60

/** What git shows of a session's work so far, for whoever takes it over; empty when it shows nothing. */
export async function situationOf({ spec }: Session, checkpoints: Checkpoints): Promise<string> {
  if (spec.saving.mode === 'off' || !checkpoints.isPlace(spec.cwd)) return ''
  const keeping = keepingOf(spec)
  const all = await checkpoints.list(keeping)
  const [first] = all
  const last = all.at(-1)
  if (first === undefined || last === undefined) return ''
  const commits = first.head === null ? [] : await checkpoints.commits(spec.cwd, first.head, MOST_COMMITS)
  const stat =
    first === last ? '' : await checkpoints.diff(keeping, first.commit, last.commit, { stat: true, colour: false })
  const files = stat.split('\n').filter(line => line.trim() !== '')
  const parts = [
    ...(commits.length === 0 ? [] : [`Commits since the work began, newest first:\n\n${commits.join('\n')}`]),
    ...(files.length === 0
      ? []
      : [`Files that changed since the work began, committed or not:\n\n${files.slice(-MOST_LINES).join('\n')}`]),
  ]
  return parts.join('\n\n')
}
