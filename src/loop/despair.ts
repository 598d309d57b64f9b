import type { Deed } from '../core/loop/deeds.ts'
import type { Desk } from './gear.ts'

/** Says what became of a deed that the world would not let us do. */
export function despair(deed: Deed, { report }: Desk, reason: string): void {
  switch (deed.type) {
    case 'begin':
    case 'see-plan':
      report({ type: 'loop.impossible', reason })
      return
    case 'first-check':
      report({ type: 'check.tried', check: null, trouble: reason })
      return
    case 'mark':
      report({ type: 'list.marked', marks: deed.marks, trouble: reason })
      return
    case 'audit':
      report({ type: 'loop.audited', losses: [], notes: [reason] })
      return
    case 'clear':
      report({ type: 'task.cleared', task: deed.task.item.key, note: reason })
      return
    case 'land':
      report({ type: 'loop.unlanded', reason })
      return
    default:
      report({
        type: 'deed.failed',
        task: deed.task?.item.key ?? null,
        iteration: deed.task?.tries.at(-1)?.iteration ?? 0,
        reason,
      })
  }
}
