import type { LoopEffect } from '../../src/core/loop/derive-effects.ts'
import { effectsOf, loopDueAt } from '../../src/core/loop/derive-effects.ts'
import { decideLoop } from '../../src/core/loop/decide.ts'
import type { WorkEvidence } from '../../src/core/loop/work-evidence.ts'
import { type LostWork, workSpan } from '../../src/core/loop/lost-work/lost-work.ts'
import type { ListItem, TaskList } from '../../src/core/loop/list/task-list.ts'
import { createLoop, type Loop } from '../../src/core/loop/loop-state.ts'
import type { LoopBase, LoopSignal, WorkerExit } from '../../src/core/loop/signals.ts'
import type { LoopSpec } from '../../src/core/loop/spec.ts'
import { NO_USAGE } from '../../src/core/session/usage.ts'

/** Behaviour of an agent in one iteration. */
export type WorkerBehavior =
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
  /** Does its task; the check removes that work. */
  | 'wiped'

type WithoutTime<S> = S extends unknown ? Omit<S, 'at'> : never
export type UntimedSignal = WithoutTime<LoopSignal>

/**
 * The outside of a loop in memory: a list, branches, and agents of every behaviour. Finished work survives a crash of
 * the loop's program.
 */
export class SimulatedLoop {
  readonly spec: LoopSpec
  readonly ticked = new Set<string>()
  /** Maps a branch, or `here`, to the tasks that have work on it. */
  readonly work = new Map<string, Set<string>>()
  readonly broken = new Set<string>()
  readonly merged: string[] = []
  /** Branches that were removed although their work was not merged. */
  readonly lost: string[] = []
  readonly #items: readonly Omit<ListItem, 'isDone'>[]
  readonly #behavior: (iteration: number) => WorkerBehavior
  readonly #hasConflict: (task: number) => boolean
  readonly #workerEnds = new Map<string, WorkerExit>()

  constructor(given: {
    spec: LoopSpec
    items: readonly Omit<ListItem, 'isDone'>[]
    temper: (iteration: number) => WorkerBehavior
    hasConflict: (task: number) => boolean
  }) {
    this.spec = given.spec
    this.#items = given.items
    this.#behavior = given.temper
    this.#hasConflict = given.hasConflict
  }

  list(): TaskList {
    return { items: this.#items.map(item => ({ ...item, isDone: this.ticked.has(item.key) })), objections: [] }
  }

  ground(): LoopBase {
    const isApart = this.spec.parallel !== null
    return {
      branch: isApart ? 'all' : null,
      tip: isApart ? `tip ${this.merged.length}` : null,
      tickAt: isApart ? 'merge' : 'here',
      notes: [],
    }
  }

  /** Performs an effect and returns the signals that follow from it. */
  perform(effect: LoopEffect, loop: Loop): UntimedSignal[] {
    switch (effect.type) {
      case 'load':
        return [{ type: 'loop.loaded', list: this.list(), base: this.ground() }]
      case 'baseline-check':
        return [{ type: 'baseline.checked', check: { ok: true, how: 'exit code 0', tail: '' }, trouble: null }]
      case 'prepare':
        return this.#prepare(effect, loop)
      case 'run-worker':
        return effect.task === null ? [] : this.#runWorker(effect.task, effect.role, effect.iteration)
      case 'verify':
        return this.#verify(effect, loop)
      case 'audit':
        return [{ type: 'loop.audited', losses: this.#losses(loop), notes: [] }]
      case 'merge':
        return this.#merge(effect)
      case 'write-marks':
        for (const { key, isDone } of effect.marks) this.#mark(key, isDone)
        return [{ type: 'list.marked', marks: effect.marks, trouble: null }]
      case 'remove-worktree':
        this.#removeWorktree(effect.task)
        return [{ type: 'worktree.removed', task: effect.task.item.key, notes: [] }]
      case 'land':
        return [{ type: 'loop.landed', commit: 'landed', removedWorktrees: [] }]
      case 'read-plan':
        return [{ type: 'plan.read', list: this.list(), base: this.ground() }]
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

  #prepare({ task, role }: Extract<LoopEffect, { type: 'prepare' }>, loop: Loop): UntimedSignal[] {
    const branch = this.spec.parallel === null ? null : role === 'resolve' ? `${task.number}-merge` : `${task.number}`
    const there = branch === null ? [...this.workOn('here')] : []
    const since = task.checkout?.since ?? { head: loop.tip, tree: there.join(' ') }
    const conflicts = role === 'resolve' ? ['both.txt'] : []
    if (branch !== null) this.workOn(branch)
    if (role === 'resolve') for (const key of this.workOn(`${task.number}`)) this.workOn(branch ?? '').add(key)
    const losses = branch === null && task.checkout === null ? this.#losses(loop) : []
    const place = { cwd: branch ?? 'here', branch, since }
    return [{ type: 'checkout.ready', task: task.item.key, checkout: place, conflicts, losses }]
  }

  /** Runs a worker once, even if the loop performs the effect again. */
  #runWorker(
    task: NonNullable<Extract<LoopEffect, { type: 'run-worker' }>['task']>,
    role: string,
    iteration: number,
  ): UntimedSignal[] {
    const { key } = task.item
    const place = role === 'resolve' ? task.resolution : task.checkout
    const known = this.#workerEnds.get(`${iteration}`)
    const end = known ?? this.#simulateWorker(key, place?.branch ?? 'here', this.#behavior(iteration))
    this.#workerEnds.set(`${iteration}`, end)
    const session = `worker-${iteration}`
    const limit = this.#behavior(iteration) === 'limited' ? { reason: 'usage limit', isLimit: true } : null
    return [
      { type: 'worker.started', task: key, iteration, session },
      { type: 'worker.rests', task: key, iteration, rest: limit },
      { type: 'worker.rests', task: key, iteration, rest: null },
      { type: 'worker.ended', task: key, iteration, end },
    ]
  }

  #simulateWorker(key: string, branch: string, behavior: WorkerBehavior): WorkerExit {
    const work = this.workOn(branch)
    if (behavior === 'wrecker' || behavior === 'undoer') this.#removeOthers(branch, key)
    if (behavior === 'liar' || behavior === 'greedy') this.#tick(key)
    if (behavior === 'greedy') for (const { key: other } of this.#items) this.#tick(other)
    if (behavior === 'breaker') this.broken.add(branch)
    else if (!IDLE_BEHAVIORS.includes(behavior)) this.broken.delete(branch)
    if (!IDLE_BEHAVIORS.includes(behavior)) work.add(key)
    if (behavior === 'greedy') for (const { key: other } of this.#items) work.add(other)
    const outcome = behavior === 'quitter' ? 'failed' : 'done'
    return {
      outcome,
      reason: outcome,
      trouble: outcome === 'failed' ? 'other' : null,
      finalOutput: 'I did it',
      spent: NO_USAGE,
    }
  }

  /** In a worktree, an agent ticks a box in a copy of the list that nobody reads. */
  #tick(key: string): void {
    if (this.spec.parallel === null) this.ticked.add(key)
  }

  #removeOthers(branch: string, key: string): void {
    const work = this.workOn(branch)
    for (const other of work) if (other !== key) work.delete(other)
  }

  /** Returns the finished work that is no longer in the user's checkout. */
  #losses({ tasks, branch }: Loop): LostWork[] {
    const present = this.workOn('here')
    const lost = tasks.filter(task => branch === null && workSpan(task) !== null && !present.has(task.item.key))
    return lost.map(({ item }) => ({ task: item.key, what: `${item.key} is gone`, cure: 'git restore', kept: [] }))
  }

  #verify({ task, role, iteration }: Extract<LoopEffect, { type: 'verify' }>, loop: Loop): UntimedSignal[] {
    const branch = (role === 'resolve' ? task.resolution : task.checkout)?.branch ?? 'here'
    const before = branch === 'here' ? (task.checkout?.since.tree.split(' ') ?? []) : []
    const hasWork = this.workOn(branch).has(task.item.key) && !before.includes(task.item.key)
    const evidence: WorkEvidence = {
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
    if (branch === 'here' && this.#behavior(iteration) === 'wiped') this.workOn(branch).delete(task.item.key)
    const found = { evidence, check, list: this.list(), unresolved: [], losses }
    return [{ type: 'task.verified', task: task.item.key, iteration, ...found }]
  }

  #merge({ task, role }: Extract<LoopEffect, { type: 'merge' }>): UntimedSignal[] {
    const { key } = task.item
    const isConflict = role === 'task' && this.#hasConflict(task.number) && !this.merged.includes(key)
    if (isConflict)
      return [
        {
          type: 'task.conflicted',
          commit: 'judged',
          task: key,
          files: ['both.txt'],
          reason: 'it conflicts',
          detail: '',
        },
      ]
    if (!this.merged.includes(key)) this.merged.push(key)
    this.ticked.add(key)
    return [{ type: 'task.merged', task: key, tip: `tip ${this.merged.length}`, isTicked: true }]
  }

  #removeWorktree(task: Extract<LoopEffect, { type: 'remove-worktree' }>['task']): void {
    const branches = [task.checkout?.branch, task.resolution?.branch].filter(
      branch => branch !== null && branch !== undefined,
    )
    for (const branch of branches) {
      if (this.workOn(branch).has(task.item.key) && !this.merged.includes(task.item.key)) this.lost.push(branch)
      this.work.delete(branch)
    }
  }
}

/** Workers with these behaviours do no work for their own task. */
const IDLE_BEHAVIORS: readonly WorkerBehavior[] = ['idle', 'liar', 'quitter', 'wrecker']

/** Result of an effect: performed and heard, performed and not heard because of a crash, or not performed. */
export type EffectFate = 'heard' | 'unheard' | 'undone'

/**
 * Runs a loop to its end. Its program dies according to `fateOf`, and a user resumes the ended loop `resumes` times.
 */
export function runLoop(
  world: SimulatedLoop,
  dice: () => number,
  fateOf: () => EffectFate,
  resumes = 0,
): { loop: Loop; steps: number } {
  let now = 1_000
  let loop = createLoop(world.spec, now)
  let steps = 0
  let resumed = 0
  const take = (said: UntimedSignal): void => {
    loop = JSON.parse(JSON.stringify(decideLoop(loop, { ...said, at: now }))) as Loop
  }
  for (; steps < 20_000; steps++) {
    now += 1_000
    const effects = effectsOf(loop)
    if (effects.length === 0) {
      if (loop.stage.name === 'ended' && resumed++ >= resumes) break
      if (loop.stage.name === 'ended') {
        take({ type: 'loop.loaded', list: world.list(), base: world.ground() })
        take({ type: 'user.resume', resumedAt: now, stoppedAt: loop.stage.at })
        continue
      }
      now = Math.max(now, loopDueAt(loop, now) ?? now)
      take({ type: 'clock.due' })
      continue
    }
    const effect = effects[Math.floor(dice() * effects.length)] as LoopEffect
    const fate = fateOf()
    const said = fate === 'undone' ? [] : world.perform(effect, loop)
    // A program that is killed halfway has received only a part of the signals.
    const heard = fate === 'heard' ? said : said.slice(0, Math.floor(dice() * said.length))
    for (const one of heard) take(one)
    if (fate !== 'heard' && loop.stage.name !== 'beginning' && loop.stage.name !== 'ended')
      take({ type: 'loop.loaded', list: world.list(), base: world.ground() })
  }
  return { loop, steps }
}
