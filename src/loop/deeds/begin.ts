import fs from 'node:fs'
import path from 'node:path'
import type { ItemList } from '../../core/loop/item.ts'
import { isAtWork } from '../../core/loop/loop.ts'
import type { Ground } from '../../core/loop/signals.ts'
import { commandLine } from '../../lib/quote.ts'
import { Trouble, wordsOf } from '../../lib/trouble.ts'
import { otherSerialLoop, waysAround } from '../../views/serial-loops.ts'
import { readAll } from '../../world/store/read.ts'
import type { Desk, Gear, LoopView } from '../gear.ts'
import { bringListBack, readList, wayBack } from '../read-list.ts'

/** Looks at what there is to work on. Done at each start, however far the loop has come. */
export async function begin(desk: Desk, isResumed = false): Promise<void> {
  const { gear, report, ending } = desk
  const { self, spec, workshop } = gear
  if (spec.plan !== 'none') await workshop.found(self.cwd)
  const survey = await workshop.survey(self.cwd)
  if (survey === null)
    return report({
      type: 'loop.impossible',
      reason: `${self.cwd} is not a git repository, and a loop needs git to see what its agents change: git init`,
    })
  if (spec.parallel !== null && survey.head === null)
    return report({
      type: 'loop.impossible',
      reason: 'the repository has no commit yet, and worktrees need one: git commit',
    })
  const busy = otherLoop(gear)
  if (busy !== null) return report({ type: 'loop.impossible', reason: busy })
  const list = await listIn(desk, isResumed)
  if (typeof list === 'string') return report({ type: 'loop.impossible', reason: list })
  if (list === null || (spec.plan !== 'none' && list.items.length === 0)) return report({ type: 'loop.unplanned' })
  if (ending.aborted) return
  const ground = await groundOf(desk)
  const elsewhere = elsewhereThan(desk, survey.branch, ground)
  if (elsewhere !== null) return report({ type: 'loop.impossible', reason: elsewhere })
  report({ type: 'loop.begun', list, ground })
}

/** Another loop was woken earlier, and works here one task after the other. */
function otherLoop({ home, self }: Gear): string | null {
  const sessions = readAll(home)
  const own = sessions.find(({ spec }) => spec.id === self.id)
  if (own === undefined) return null
  const earlier = sessions.filter(({ spec, clockSince }) => spec.id !== self.id && clockSince <= own.clockSince)
  const other = otherSerialLoop(own.spec, earlier)
  return other === undefined ? null : `${other.spec.name} already works in this checkout; ${waysAround(other)}`
}

/** Work that is not here any more may be on the branch that the loop has worked on. */
function elsewhereThan({ gear, loop }: Desk, branch: string | null, { losses = [] }: Ground): string | null {
  const { home } = loop()
  if (home === undefined || home === branch || losses.length === 0) return null
  const now = branch === null ? 'no branch is checked out' : `${branch} is checked out`
  return `this loop works on ${home}, and ${now}: ${commandLine(['git', 'checkout', home])}, then oneshot resume ${gear.self.name}`
}

/** Looks at the plan that was made. */
export async function seePlan(desk: Desk): Promise<void> {
  const list = await listIn(desk)
  const none: ItemList = { items: [], objections: typeof list === 'string' ? [list] : [] }
  desk.report({
    type: 'plan.seen',
    list: list === null || typeof list === 'string' ? none : list,
    ground: await groundOf(desk),
  })
}

/** Null where it is still to be planned; a sentence where it cannot be read. */
async function listIn(desk: Desk, isResumed = false): Promise<ItemList | string | null> {
  const { self, spec, source } = desk.gear
  const { tasks } = desk.loop()
  try {
    // The loop ran until now, and an agent is at work: it has deleted the list. While a loop is stopped a person may have.
    if (!isResumed && tasks.some(isAtWork)) bringListBack(desk.gear)
    const isThere = source.file === null || fs.existsSync(path.join(self.cwd, source.file))
    if (!isThere && spec.plan !== 'none' && tasks.length === 0) return null
    if (!isThere) return `${source.file} does not exist${wayBack(desk.gear)}`
    return await readList(desk)
  } catch (cause) {
    if (cause instanceof Trouble) return `${wordsOf(cause)}${wayBack(desk.gear)}`
    throw cause
  }
}

async function groundOf({ gear, loop }: LoopView): Promise<Ground> {
  const { self, spec, workshop, layout, source } = gear
  if (spec.parallel === null) return groundHere({ gear, loop })
  const { head, isClean } = (await workshop.survey(self.cwd)) ?? { head: null, isClean: true }
  const { integration } = layout
  const from = loop().tip ?? head
  if (from === null) throw new Trouble('beginning', 'the repository has no commit', { mayHelpToRetry: false })
  if (loop().tip !== null) await workshop.mend(self.cwd, integration, from)
  await workshop.open(self.cwd, integration, from)
  const isTracked = source.file !== null && fs.existsSync(path.join(layout.within(integration), source.file))
  const marking = source.file === null ? 'here' : isTracked ? 'merge' : 'landing'
  const notes = isClean ? [] : ['uncommitted changes here are not in the worktrees']
  const now = loop().yours === undefined ? await workshop.snapshot(self.cwd, `${self.id}/begin`) : null
  const yours = now === null ? {} : { yours: { since: { head, tree: `${head}^{tree}` }, now } }
  return { branch: integration.branch, tip: from, marking, notes, ...yours }
}

/** Work happens in the user's checkout: is finished work still there, and what was not committed before? */
async function groundHere({ gear, loop }: LoopView): Promise<Ground> {
  const { self, workshop, audit } = gear
  const now = await workshop.snapshot(self.cwd, loop().yours === undefined ? `${self.id}/begin` : undefined)
  // While an agent is at work, nobody knows who has changed what: it is looked at when that is judged.
  const isBusy = loop().tasks.some(isAtWork)
  const { losses, thinned } = isBusy ? { losses: [], thinned: [] } : await audit.whole(loop(), now.tree)
  const yours = now.head === null ? {} : { yours: { since: { head: now.head, tree: `${now.head}^{tree}` }, now } }
  const { branch } = await workshop.head(self.cwd)
  // An agent at work may have left it.
  const home = branch === null || isBusy ? {} : { home: branch }
  return { branch: null, tip: null, marking: 'here', notes: thinned, losses, ...yours, ...home }
}
