import { invariant, Trouble, wordsOf } from '../../lib/trouble.ts'
import { serialLoopIn } from '../../views/serial-loops.ts'
import { readAll } from '../../world/store/read.ts'
import type { Desk } from '../gear.ts'

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
    const { commit } = await workshop.land(self.cwd, tip, `Merge ${branch}`)
    await workshop.clear(self.cwd, layout.integration, 'HEAD')
    report({ type: 'loop.landed', commit })
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    report({ type: 'loop.unlanded', reason: wordsOf(cause) })
  }
}
