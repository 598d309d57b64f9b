import type { Mark } from '../../core/loop/item.ts'
import type { Desk } from '../gear.ts'

/** Writes into the user's list what was found to be true. */
export async function mark(marks: readonly Mark[], { gear, report, ending }: Desk): Promise<void> {
  await gear.source.mark(gear.self.cwd, marks, ending)
  report({ type: 'list.marked', marks, trouble: null })
}
