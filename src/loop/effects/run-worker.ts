import type { LoopEffect } from '../../core/loop/derive-effects.ts'
import { findTask } from '../../core/loop/loop-updates.ts'
import type { LoopTask } from '../../core/loop/loop-state.ts'
import { planPrompt, taskPrompt } from '../../core/loop/worker-prompts.ts'
import type { WorkerExit } from '../../core/loop/signals.ts'
import { NO_USAGE } from '../../core/session/usage.ts'
import { Refusal } from '../../lib/errors.ts'
import { slugify } from '../../lib/text/slug.ts'
import type { Worker, WorkerRequest, WorkerState } from '../../ports/workers.ts'
import type { EffectRun, LoopContext, LoopSession } from '../context.ts'

type RunWorkerEffect = Extract<LoopEffect, { type: 'run-worker' }>

/** Commits in the prompt: enough to show the work of others. */
const LOG_LENGTH = 12
/** Bytes of the list in the prompt of a worker that cannot read the file. */
const MAX_LIST_SIZE = 16_000

/** Starts a worker for the task, and watches it until it ends. */
export async function runWorker(effect: RunWorkerEffect, run: EffectRun): Promise<void> {
  const { context, report, ending } = run
  const { iteration } = effect
  const task = effect.task?.item.key ?? null
  let session: Worker
  try {
    session = await startWorker(effect, run)
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause
    // The supervisor refuses workers while the loop stops. The task is not at fault.
    if (context.workers.isLoopStopping()) return untilAborted(ending)
    return report({ type: 'worker.ended', task, iteration, end: startFailure(cause) })
  }
  report({ type: 'worker.started', task, iteration, session: session.name })
  let isRepaired = false
  for await (const state of context.workers.watch(session.id, ending)) {
    if (!isRepaired && hasLostFolder(state) && (isRepaired = await repairWorktree(effect, run)))
      await context.workers.resume(session.id, ending)
    report({ type: 'worker.rests', task, iteration, rest: readRest(state, session.name) })
  }
  if (ending.aborted) return
  const end = context.workers.readExit(session.id)
  if (end.outcome === 'stopped' && context.workers.isLoopStopping()) return untilAborted(ending)
  report({ type: 'worker.ended', task, iteration, end })
}

/** Returns true if the worker is blocked because its folder is missing. */
function hasLostFolder({ phase, problem }: WorkerState): boolean {
  return phase === 'blocked' && problem === 'folder'
}

/** Recreates the worktree of an iteration; returns false if it has none. */
async function repairWorktree({ task, role }: RunWorkerEffect, { context, loop }: EffectRun): Promise<boolean> {
  const now = task === null ? undefined : findTask(loop(), task.item.key)
  const place = role === 'resolve' ? now?.resolution : now?.checkout
  if (!place || place.branch === null || place.since.head === null) return false
  const worktree = { path: context.paths.topOf(place.cwd), branch: place.branch }
  await context.worktrees.repair(context.session.cwd, worktree, place.since.head)
  return true
}

/** Makes the name longer if another session has it. */
async function startWorker(effect: RunWorkerEffect, run: EffectRun): Promise<Worker> {
  const { context, ending } = run
  const key = `${effect.role} ${effect.iteration}`
  const request = await buildRequest(effect, run)
  try {
    return await context.workers.ensureRunning(key, request, ending)
  } catch (cause) {
    if (!(cause instanceof Refusal) || cause.code !== 'name-taken') throw cause
    const name = `${request.name.slice(0, 58)}-${context.session.id.slice(0, 4)}`
    return context.workers.ensureRunning(key, { ...request, name }, ending)
  }
}

/** The supervisor refused the session. */
function startFailure({ message, hint }: Refusal): WorkerExit {
  const reason = hint === undefined ? message : `${message} (${hint})`
  return { outcome: 'failed', reason, trouble: 'start', finalOutput: '', spent: NO_USAGE }
}

/** `oneshot resume` of the loop does not continue a worker that somebody holds. */
export function readRest(
  { phase, reason, problem }: WorkerState,
  name: string,
): { reason: string; isLimit: boolean } | null {
  if (phase !== 'resting' && phase !== 'blocked') return null
  const next = problem === 'held' ? `: oneshot resume ${name}` : ''
  return { reason: `${reason ?? phase}${next}`, isLimit: problem === 'rate-limit' }
}

function untilAborted(ending: AbortSignal): Promise<void> {
  return new Promise(resolve => ending.addEventListener('abort', () => resolve(), { once: true }))
}

async function buildRequest(effect: RunWorkerEffect, run: EffectRun): Promise<WorkerRequest> {
  const { session, spec, env } = run.context
  const cwd = workerFolder(effect, run)
  return {
    options: spec.worker,
    name: workerName(effect, session),
    prompt: await buildPrompt(effect, run, cwd),
    cwd,
    env: { ...env, PWD: cwd, ...(await traceEnvironment(effect, run)) },
  }
}

/** Traces the agent's git commands: in a shared checkout, they show which commits are the agent's. */
async function traceEnvironment({ task }: RunWorkerEffect, { context }: EffectRun): Promise<Record<string, string>> {
  const file = task === null ? null : await traceFileFor(task, context)
  return file === null ? {} : { GIT_TRACE2_EVENT: file }
}

/** Returns null if the user has set another trace target. */
export async function traceFileFor(
  { number }: LoopTask,
  { worktrees, session, env }: LoopContext,
): Promise<string | null> {
  return env['GIT_TRACE2_EVENT'] === undefined ? worktrees.traceFile(session.cwd, `${session.id}-${number}`) : null
}

/** A session's task name has at most 63 characters; its label and iteration make it unique. */
function workerName({ task, iteration }: RunWorkerEffect, self: LoopSession): string {
  const end = `${slugify(task?.item.label ?? 'plan', 'task')}-${iteration}`
  return `${self.task.slice(0, 60 - end.length).replace(/-+$/, '')}-${end}`
}

function workerFolder({ task, role }: RunWorkerEffect, { context, loop }: EffectRun): string {
  const now = task === null ? undefined : findTask(loop(), task.item.key)
  const place = role === 'resolve' ? now?.resolution : now?.checkout
  return place?.cwd ?? context.session.cwd
}

async function buildPrompt(
  { task, role }: RunWorkerEffect,
  { context, loop }: EffectRun,
  cwd: string,
): Promise<string> {
  if (task === null) return planPrompt(loop(), context.session.prompt)
  const log = await context.worktrees.log(cwd, LOG_LENGTH)
  return taskPrompt(loop(), findTask(loop(), task.item.key) ?? task, role, { log, list: listForPrompt(cwd, context) })
}

/** A worktree contains no untracked list, so the prompt includes it. */
function listForPrompt(cwd: string, { taskSource, session }: EffectRun['context']): string | null {
  if (taskSource.exists(cwd)) return null
  const text = taskSource.readText(session.cwd)
  return text.length > MAX_LIST_SIZE ? `${text.slice(0, MAX_LIST_SIZE)}\n…` : text
}
