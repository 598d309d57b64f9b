import type { Mark } from '../../core/loop/item.ts'
import { listKeys } from '../../core/loop/renamed-items.ts'
import type { Desk } from '../gear.ts'

/** Writes into the user's list what was found to be true. */
export async function mark(marks: readonly Mark[], { gear, loop, report, ending }: Desk): Promise<void> {
  const keyOf = listKeys(loop())
  await gear.source.mark(
    gear.self.cwd,
    marks.map(one => ({ ...one, key: keyOf(one.key) })),
    ending,
  )
  report({ type: 'list.marked', marks, trouble: null })
}
