import fs from 'node:fs'
import path from 'node:path'
import type { ItemList } from '../../core/loop/item.ts'
import type { Ground } from '../../core/loop/signals.ts'
import { Trouble, wordsOf } from '../../lib/trouble.ts'
import type { Desk } from '../gear.ts'
import { readList } from '../read-list.ts'

/** Looks at what there is to work on. Done at each start, however far the loop has come. */
export async function begin(desk: Desk): Promise<void> {
  const { gear, report, ending } = desk
  const { self, spec, workshop } = gear
  if (spec.plan !== 'none') await workshop.found(self.cwd)
  const survey = await workshop.survey(self.cwd)
  if (survey === null)
    return report({
      type: 'loop.impossible',
      reason: `${self.cwd} is no git repository, and only git shows what was done: git init`,
    })
  if (spec.parallel !== null && survey.head === null)
    return report({
      type: 'loop.impossible',
      reason: 'the repository has no commit yet that worktrees could begin at: git commit',
    })
  const list = await listIn(desk)
  if (typeof list === 'string') return report({ type: 'loop.impossible', reason: list })
  if (list === null || (spec.plan !== 'none' && list.items.length === 0)) return report({ type: 'loop.unplanned' })
  if (ending.aborted) return
  report({ type: 'loop.begun', list, ground: await groundOf(desk) })
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
async function listIn(desk: Desk): Promise<ItemList | string | null> {
  const { self, spec, source } = desk.gear
  const isThere = source.file === null || fs.existsSync(path.join(self.cwd, source.file))
  if (!isThere) return spec.plan === 'none' ? `${source.file} is not there` : null
  try {
    return await readList(desk)
  } catch (cause) {
    if (cause instanceof Trouble) return wordsOf(cause)
    throw cause
  }
}

async function groundOf({ gear, loop }: Desk): Promise<Ground> {
  const { self, spec, workshop, layout, source } = gear
  if (spec.parallel === null) return { branch: null, tip: null, marking: 'here', notes: [] }
  const { head, isClean } = (await workshop.survey(self.cwd)) ?? { head: null, isClean: true }
  const { integration } = layout
  const from = loop().tip ?? head
  if (from === null) throw new Trouble('beginning', 'the repository has no commit', { mayHelpToRetry: false })
  await workshop.open(self.cwd, integration, from)
  const isTracked = source.file !== null && fs.existsSync(path.join(layout.within(integration), source.file))
  const marking = source.file === null ? 'here' : isTracked ? 'merge' : 'landing'
  const notes = isClean ? [] : ['what is not committed here is not seen by those who work in worktrees']
  return { branch: integration.branch, tip: from, marking, notes }
}
