import path from 'node:path'
import type { Loop } from '../../core/loop/loop.ts'
import { rawPath } from '../../lib/raw-path.ts'
import { invariant, Trouble, wordsOf } from '../../lib/trouble.ts'
import type { LandedList } from '../../ports/workshop.ts'
import { serialLoopIn } from '../../views/serial-loops.ts'
import { readAll } from '../../world/store/read.ts'
import type { Desk, Gear } from '../gear.ts'

/** Brings all that was merged into what the user has checked out. What is in the way is the user's to decide. */
export async function land({ gear, loop, report }: Desk): Promise<void> {
  const { branch, tip } = loop()
  const { workshop, self, layout } = gear
  invariant(branch !== null && tip !== null, 'there is nothing to land')
  const busy = serialLoopIn(self.cwd, readAll(gear.home))
  if (busy !== undefined) {
    const reason = `${busy.spec.name} works in this checkout; once it has ended: oneshot ralph land ${self.name}`
    return report({ type: 'loop.unlanded', reason })
  }
  try {
    const { commit } = await workshop.land(self.cwd, tip, `Merge ${branch}`, landedList(gear, loop()))
    await workshop.clear(self.cwd, layout.integration, 'HEAD')
    report({ type: 'loop.landed', commit })
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    report({ type: 'loop.unlanded', reason: wordsOf(cause) })
  }
}

/** The list, where it is part of what lands: its boxes are ticked in the user's own version if both were changed. */
export function landedList({ source, layout }: Gear, { marking, tasks }: Loop): { list?: LandedList } {
  if (marking !== 'merge' || source.file === null) return {}
  const done = tasks.filter(({ stand, tries }) => stand.name === 'done' && tries.length > 0)
  const marks = done.map(({ item }) => ({ key: item.key, isDone: true, reason: 'landed' }))
  const tick = (top: string): Promise<void> =>
    source.mark(path.join(top, layout.inner), marks, AbortSignal.timeout(PATIENCE))
  return { list: { file: rawPath(Buffer.from(layout.listIn(source.file))), tick } }
}

/** Milliseconds; a list is a file, and is written at once. */
const PATIENCE = 60_000
