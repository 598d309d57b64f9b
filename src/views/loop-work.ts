import type { SessionView } from '../api/contract/session-view.ts'
import type { Loop } from '../core/loop/loop.ts'
import type { Work } from '../core/prove.ts'
import type { Home } from '../world/os/home.ts'
import { readLoop } from '../world/os/loop-file.ts'
import { isLoop } from './way-on.ts'
import type { WorkShown } from './work-of.ts'

/** What a loop has merged in worktrees, which its folder does not show. `isApart`: nor will it before that has landed. */
export function apartOf(home: Home, session: SessionView): (WorkShown & { readonly isApart: boolean }) | null {
  const loop = isLoop(session) ? readLoop(home, session.id) : undefined
  if (loop === undefined || loop.spec.parallel === null) return null
  const isApart = loop.landedAt === null
  const where = loop.branch === null ? [] : [whereabouts(loop.branch, loop, session.name)]
  return { work: mergedWork(loop), remarks: where, isApart }
}

function whereabouts(branch: string, { spec, landedAt }: Loop, name: string): string {
  if (landedAt !== null) return `it has landed from ${branch}`
  const check = spec.check === null ? '' : ', where the check was run as each task was merged'
  return `it is on ${branch}${check}; oneshot ralph land ${name} brings it here`
}

/** What was seen of each task that is done, in one. */
function mergedWork({ tasks }: Loop): Work {
  const proven = tasks.flatMap(({ stand, evidence }) => (stand.name === 'done' && evidence !== null ? [evidence] : []))
  const sum = (of: (work: Work) => number): number => proven.map(of).reduce((all, one) => all + one, 0)
  const files = [...new Set(proven.flatMap(work => work.files))]
  return {
    // What was left uncommitted was committed as it was merged.
    commitCount: sum(({ commitCount, uncommitted }) => Math.max(commitCount, uncommitted > 0 ? 1 : 0)),
    commits: proven.flatMap(({ commits }) => commits).slice(0, 12),
    change: {
      files: Math.max(files.length, ...proven.map(({ change }) => change.files)),
      added: sum(({ change }) => change.added),
      removed: sum(({ change }) => change.removed),
    },
    files: files.slice(0, 12),
    uncommitted: 0,
  }
}
