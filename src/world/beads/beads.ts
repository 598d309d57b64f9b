import type { Issue } from '../../core/tracked.ts'
import type { Tracker } from '../../ports/tracker.ts'
import type { Home } from '../os/home.ts'
import { readTracked, writeTracked } from '../os/tracker-file.ts'
import { Abilities } from './ability.ts'
import { askBd, tellBd } from './bd.ts'
import { findBeads } from './find-beads.ts'
import { issuesIn } from './issues.ts'

/** More issues than this are no list to go by. bd 0.49 tells ten unless asked, 1.0 a hundred. */
const MOST = ['--limit', '200'] as const

/** beads, by its program `bd`. */
export function beadsTracker(home: Home): Tracker {
  const abilities = new Abilities()
  return {
    kind: 'beads',
    find: ({ cwd }) => findBeads(cwd),
    version: async (place, ending) => (await abilities.of(place, ending)).version,
    sync: async (place, ending) => {
      const { sync } = await abilities.of(place, ending)
      if (sync !== null) await tellBd(place, sync, ending)
    },
    ready: async (place, ending) => {
      const begun = issuesIn(await askBd(place, ['list', '--status', 'in_progress', ...MOST], ending))
      const ready = issuesIn(await askBd(place, ['ready', ...MOST], ending))
      return [...begun, ...ready.filter(({ id }) => !begun.some(other => other.id === id))]
    },
    show: async (place, id, ending) => issuesIn(asList(await askBd(place, ['show', id], ending)))[0] ?? null,
    close: (place, id, reason, ending) => tellBd(place, ['close', id, '--reason', reason, '--json'], ending),
    recall: id => readTracked(home, id),
    keep: (id, seen) => writeTracked(home, id, { kind: 'beads', ...seen }),
  }
}

/** bd 1.0 shows one issue as a list of one; others have shown it alone. */
function asList(answer: unknown): unknown {
  const isIssue = typeof answer === 'object' && answer !== null && 'id' in answer
  return isIssue ? [answer as Issue] : answer
}
