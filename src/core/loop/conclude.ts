import { isSpent, wantedOf } from './choose.ts'
import type { Ending, Loop, LoopTask } from './loop.ts'

/** Decides how a loop has ended in which nothing more can be done. */
export function conclude(loop: Loop): Ending {
  const wanted = wantedOf(loop)
  const done = wanted.filter(({ stand }) => stand.name === 'done')
  const count = `${done.length} of ${wanted.length} ${wanted.length === 1 ? 'task' : 'tasks'} done`
  if (wanted.length === 0) return { kind: 'unfinished', reason: emptyReason(loop) }
  if (done.length === wanted.length) return { kind: 'done', reason: `${count} and proven` }
  const reasons = [loop.halt, spentReason(loop), blockedReason(wanted)].filter(reason => reason !== null)
  return { kind: 'unfinished', reason: [count, ...reasons].join('; ') }
}

function emptyReason({ spec }: Loop): string {
  const list = spec.list ?? 'the task tracker'
  return spec.only === null ? `there is no task in ${list}` : `there is no task ${spec.only} in ${list}`
}

function spentReason(loop: Loop): string | null {
  const { maxIterations } = loop.spec
  return isSpent(loop) ? `${maxIterations} ${maxIterations === 1 ? 'iteration was' : 'iterations were'} allowed` : null
}

function blockedReason(wanted: readonly LoopTask[]): string | null {
  const blocked = wanted.filter(({ stand }) => stand.name === 'blocked')
  if (blocked.length === 0) return null
  const [first] = blocked
  const why = first?.stand.name === 'blocked' ? `: ${first.stand.flaw.reason}` : ''
  const waiting = wanted.filter(({ stand }) => stand.name === 'open').length
  const rest = waiting === 0 ? '' : `, ${waiting} not begun`
  return blocked.length === 1
    ? `task ${first?.item.label} is blocked${why}${rest}`
    : `tasks ${blocked.map(({ item }) => item.label).join(', ')} are blocked; task ${first?.item.label}${why}${rest}`
}
