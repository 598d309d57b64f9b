import type { Tracker } from '../../ports/tracker.ts'
import type { Home } from '../os/home.ts'
import { readTracked, writeTracked } from '../os/tracker-file.ts'
import { Abilities } from './ability.ts'
import { askBd, tellBd } from './bd.ts'
import { findBeads } from './find-beads.ts'
import { closeIssue, showIssue } from './issue.ts'
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
    show: showIssue,
    close: closeIssue,
    recall: id => readTracked(home, id),
    keep: (id, seen) => writeTracked(home, id, { kind: 'beads', ...seen }),
  }
}
