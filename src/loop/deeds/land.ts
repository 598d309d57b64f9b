import { invariant, Trouble, wordsOf } from '../../lib/trouble.ts'
import type { Desk } from '../gear.ts'

/** Brings all that was merged into what the user has checked out. What is in the way is the user's to decide. */
export async function land({ gear, loop, report }: Desk): Promise<void> {
  const { branch } = loop()
  invariant(branch !== null, 'there is nothing to land')
  try {
    const { commit } = await gear.workshop.land(gear.self.cwd, branch, `Merge ${branch}`)
    report({ type: 'loop.landed', commit })
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    report({ type: 'loop.unlanded', reason: wordsOf(cause) })
  }
}
