import type { Deed } from '../../core/loop/deeds.ts'
import { deedsOf, dueOf } from '../../core/loop/deeds.ts'
import { decide } from '../../core/loop/decide.ts'
import type { Evidence } from '../../core/loop/evidence.ts'
import { type Loss, spanOf } from '../../core/loop/losses.ts'
import type { Item, ItemList } from '../../core/loop/item.ts'
import { createLoop, type Loop } from '../../core/loop/loop.ts'
import type { Ground, LoopSignal, WorkerEnd } from '../../core/loop/signals.ts'
import type { LoopSpec } from '../../core/loop/spec.ts'
import { NOTHING_SPENT } from '../../core/spending.ts'

/** How an agent behaves in one iteration. */
export type Temper =
  | 'good'
  | 'idle'
  | 'liar'
  | 'breaker'
  | 'quitter'
  | 'greedy'
  | 'limited'
  /** Removes the work of all others, and does nothing else. */
  | 'wrecker'
  /** Does its task, and removes the work of all others. */
  | 'undoer'
  /** Does its task; the check removes that. */
  | 'wiped'

type Untimed<S> = S extends unknown ? Omit<S, 'at'> : never
export type Said = Untimed<LoopSignal>

/** What a loop works in, kept in memory: a list, branches, and agents of every temper. What was done stays done, whoever dies. */
export class LoopWorld {
  readonly spec: LoopSpec
  readonly ticked = new Set<string>()
  /** Where there is work for which task: a branch, or `here`. */
  readonly work = new Map<string, Set<string>>()
  readonly broken = new Set<string>()
  readonly merged: string[] = []
  /** Branches that were removed although they had work that was not merged. */
  readonly lost: string[] = []
  readonly #items: readonly Omit<Item, 'isDone'>[]
  readonly #temper: (iteration: number) => Temper
  readonly #clashes: (task: number) => boolean
  readonly #ends = new Map<string, WorkerEnd>()

  constructor(given: {
    spec: LoopSpec
    items: readonly Omit<Item, 'isDone'>[]
    temper: (iteration: number) => Temper
    clashes: (task: number) => boolean
  }) {
    this.spec = given.spec
    this.#items = given.items
    this.#temper = given.temper
    this.#clashes = given.clashes
  }

  list(): ItemList {
    return { items: this.#items.map(item => ({ ...item, isDone: this.ticked.has(item.key) })), objections: [] }
  }

  ground(): Ground {
    const isApart = this.spec.parallel !== null
    return {
      branch: isApart ? 'all' : null,
      tip: isApart ? `tip ${this.merged.length}` : null,
      marking: isApart ? 'merge' : 'here',
      notes: [],
    }
  }

  /** Does it all, and says what came of it. */
  perform(deed: Deed, loop: Loop): Said[] {
    switch (deed.type) {
      case 'begin':
        return [{ type: 'loop.begun', list: this.list(), ground: this.ground() }]
      case 'first-check':
        return [{ type: 'check.tried', check: { ok: true, how: 'exit code 0', tail: '' }, trouble: null }]
      case 'prepare':
        return this.#prepare(deed, loop)
      case 'tend':
        return deed.task === null ? [] : this.#tend(deed.task, deed.role, deed.iteration)
      case 'judge':
        return this.#judge(deed, loop)
      case 'audit':
        return [{ type: 'loop.audited', losses: this.#losses(loop), notes: [] }]
      case 'merge':
        return this.#merge(deed)
      case 'mark':
        for (const { key, isDone } of deed.marks) this.#mark(key, isDone)
        return [{ type: 'list.marked', marks: deed.marks, trouble: null }]
      case 'clear':
        this.#clear(deed.task)
        return [{ type: 'task.cleared', task: deed.task.item.key, note: null }]
      case 'land':
        return [{ type: 'loop.landed', commit: 'landed' }]
      case 'see-plan':
        return [{ type: 'plan.seen', list: this.list(), ground: this.ground() }]
    }
  }

  #mark(key: string, isDone: boolean): void {
    if (isDone) this.ticked.add(key)
    else this.ticked.delete(key)
  }

  workOn(branch: string): Set<string> {
    const known = this.work.get(branch) ?? new Set<string>()
    this.work.set(branch, known)
    return known
  }

  #prepare({ task, role }: Extract<Deed, { type: 'prepare' }>, loop: Loop): Said[] {
    const branch = this.spec.parallel === null ? null : role === 'resolve' ? `${task.number}-merge` : `${task.number}`
    const there = branch === null ? [...this.workOn('here')] : []
    const since = task.place?.since ?? { head: loop.tip, tree: there.join(' ') }
    const clash = role === 'resolve' ? ['both.txt'] : []
    if (branch !== null) this.workOn(branch)
    if (role === 'resolve') for (const key of this.workOn(`${task.number}`)) this.workOn(branch ?? '').add(key)
    const losses = branch === null && task.place === null ? this.#losses(loop) : []
    const place = { cwd: branch ?? 'here', branch, since }
    return [{ type: 'place.ready', task: task.item.key, place, clash, losses }]
  }

  /** An agent works once, however often it is looked after. */
  #tend(task: NonNullable<Extract<Deed, { type: 'tend' }>['task']>, role: string, iteration: number): Said[] {
    const { key } = task.item
    const place = role === 'resolve' ? task.resolution : task.place
    const known = this.#ends.get(`${iteration}`)
    const end = known ?? this.#live(key, place?.branch ?? 'here', this.#temper(iteration))
    this.#ends.set(`${iteration}`, end)
    const session = `worker-${iteration}`
    const limit = this.#temper(iteration) === 'limited' ? { reason: 'usage limit', isLimit: true } : null
    return [
      { type: 'worker.begun', task: key, iteration, session },
      { type: 'worker.rests', task: key, iteration, rest: limit },
      { type: 'worker.rests', task: key, iteration, rest: null },
      { type: 'worker.ended', task: key, iteration, end },
    ]
  }

  #live(key: string, branch: string, temper: Temper): WorkerEnd {
    const work = this.workOn(branch)
    if (temper === 'wrecker' || temper === 'undoer') this.#removeOthers(branch, key)
    if (temper === 'liar' || temper === 'greedy') this.#tick(key)
    if (temper === 'greedy') for (const { key: other } of this.#items) this.#tick(other)
    if (temper === 'breaker') this.broken.add(branch)
    else if (!IDLE.includes(temper)) this.broken.delete(branch)
    if (!IDLE.includes(temper)) work.add(key)
    if (temper === 'greedy') for (const { key: other } of this.#items) work.add(other)
    const outcome = temper === 'quitter' ? 'failed' : 'done'
    return {
      outcome,
      reason: outcome,
      trouble: outcome === 'failed' ? 'other' : null,
      said: 'I did it',
      spent: NOTHING_SPENT,
    }
  }

  /** In a worktree a box is ticked in a copy of the list that nobody reads. */
  #tick(key: string): void {
    if (this.spec.parallel === null) this.ticked.add(key)
  }

  #removeOthers(branch: string, key: string): void {
    const work = this.workOn(branch)
    for (const other of work) if (other !== key) work.delete(other)
  }

  /** Finished work that is not in the user's checkout any more. */
  #losses({ tasks, branch }: Loop): Loss[] {
    const present = this.workOn('here')
    const lost = tasks.filter(task => branch === null && spanOf(task) !== null && !present.has(task.item.key))
    return lost.map(({ item }) => ({ task: item.key, what: `${item.key} is gone`, cure: 'git restore', kept: [] }))
  }

  #judge({ task, role, iteration }: Extract<Deed, { type: 'judge' }>, loop: Loop): Said[] {
    const branch = (role === 'resolve' ? task.resolution : task.place)?.branch ?? 'here'
    const before = branch === 'here' ? (task.place?.since.tree.split(' ') ?? []) : []
    const hasWork = this.workOn(branch).has(task.item.key) && !before.includes(task.item.key)
    const evidence: Evidence = {
      commits: [],
      commitCount: hasWork ? 1 : 0,
      change: { files: hasWork ? 1 : 0, added: 1, removed: 0 },
      files: [],
      uncommitted: 0,
      now: { head: 'h', tree: 't' },
    }
    const ok = !this.broken.has(branch)
    const check = this.spec.check === null ? null : { ok, how: ok ? 'it passes' : 'it fails', tail: '' }
    const losses = this.#losses(loop)
    if (branch === 'here' && this.#temper(iteration) === 'wiped') this.workOn(branch).delete(task.item.key)
    const found = { evidence, check, list: this.list(), unresolved: [], losses }
    return [{ type: 'task.judged', task: task.item.key, iteration, ...found }]
  }

  #merge({ task, role }: Extract<Deed, { type: 'merge' }>): Said[] {
    const { key } = task.item
    const isClash = role === 'task' && this.#clashes(task.number) && !this.merged.includes(key)
    if (isClash)
      return [
        { type: 'task.clashed', commit: 'judged', task: key, files: ['both.txt'], reason: 'it clashes', detail: '' },
      ]
    if (!this.merged.includes(key)) this.merged.push(key)
    this.ticked.add(key)
    return [{ type: 'task.merged', task: key, tip: `tip ${this.merged.length}`, isTicked: true }]
  }

  #clear(task: Extract<Deed, { type: 'clear' }>['task']): void {
    const branches = [task.place?.branch, task.resolution?.branch].filter(
      branch => branch !== null && branch !== undefined,
    )
    for (const branch of branches) {
      if (this.workOn(branch).has(task.item.key) && !this.merged.includes(task.item.key)) this.lost.push(branch)
      this.work.delete(branch)
    }
  }
}

/** Do nothing for their own task. */
const IDLE: readonly Temper[] = ['idle', 'liar', 'quitter', 'wrecker']

/** What happens between two steps: a deed is done and heard of, done and never heard of, or never done. */
export type Fate = 'heard' | 'unheard' | 'undone'

/** Has a loop run to its end, whose program dies whenever fate wants it; so often more, as a person resumes it. */
export function live(
  world: LoopWorld,
  dice: () => number,
  fateOf: () => Fate,
  resumes = 0,
): { loop: Loop; steps: number } {
  let now = 1_000
  let loop = createLoop(world.spec, now)
  let steps = 0
  let resumed = 0
  const take = (said: Said): void => {
    loop = JSON.parse(JSON.stringify(decide(loop, { ...said, at: now }))) as Loop
  }
  for (; steps < 20_000; steps++) {
    now += 1_000
    const deeds = deedsOf(loop)
    if (deeds.length === 0) {
      if (loop.stage.name === 'ended' && resumed++ >= resumes) break
      if (loop.stage.name === 'ended') {
        take({ type: 'loop.begun', list: world.list(), ground: world.ground() })
        take({ type: 'user.resume', wokenAt: now, stoppedAt: loop.stage.at })
        continue
      }
      now = Math.max(now, dueOf(loop, now) ?? now)
      take({ type: 'clock.due' })
      continue
    }
    const deed = deeds[Math.floor(dice() * deeds.length)] as Deed
    const fate = fateOf()
    const said = fate === 'undone' ? [] : world.perform(deed, loop)
    // Killed in the midst of it, the program has heard a part of what was to be heard.
    const heard = fate === 'heard' ? said : said.slice(0, Math.floor(dice() * said.length))
    for (const one of heard) take(one)
    if (fate !== 'heard' && loop.stage.name !== 'beginning' && loop.stage.name !== 'ended')
      take({ type: 'loop.begun', list: world.list(), ground: world.ground() })
  }
  return { loop, steps }
}
