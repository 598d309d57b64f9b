import fs from 'node:fs'
import path from 'node:path'
import type { RunRequest } from '../../api/contract/requests.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import type { Deed } from '../../core/loop/deeds.ts'
import { taskOf } from '../../core/loop/change.ts'
import type { LoopTask } from '../../core/loop/loop.ts'
import { planPrompt, promptFor } from '../../core/loop/prompt.ts'
import type { WorkerEnd } from '../../core/loop/signals.ts'
import { NOTHING_SPENT, spentBy } from '../../core/spending.ts'
import { Refusal } from '../../lib/refusal.ts'
import { slug } from '../../lib/slug.ts'
import { listContent } from '../../world/tasks/file-source.ts'
import type { Desk, Gear, Self } from '../gear.ts'

type Tend = Extract<Deed, { type: 'tend' }>

/** Commits that a worker is told of: enough to see what others are at. */
const LOG = 12
/** Bytes of a list that are handed on to those who cannot read it themselves. */
const LONGEST_LIST = 16_000

/** Has an agent work on it, and follows that to its end. */
export async function tend(deed: Tend, desk: Desk): Promise<void> {
  const { gear, report, ending } = desk
  const { iteration } = deed
  const task = deed.task?.item.key ?? null
  let session: SessionView
  try {
    session = await engage(deed, desk)
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause
    // A loop that is being stopped is given no more workers. That is no fault of the task.
    if (gear.hands.isLeaving()) return untilCalledOff(ending)
    return report({ type: 'worker.ended', task, iteration, end: unstarted(cause) })
  }
  report({ type: 'worker.begun', task, iteration, session: session.name })
  let isMended = false
  for await (const view of gear.hands.watch(session.id, ending)) {
    if (!isMended && isHomeless(view) && (isMended = await mended(deed, desk)))
      await gear.hands.wake(session.id, ending)
    report({ type: 'worker.rests', task, iteration, rest: restOf(view) })
  }
  if (ending.aborted) return
  const end = endOf(session, desk)
  if (end.outcome === 'stopped' && gear.hands.isLeaving()) return untilCalledOff(ending)
  report({ type: 'worker.ended', task, iteration, end })
}

/** It cannot go on because its folder is gone. */
function isHomeless({ phase, trouble }: SessionView): boolean {
  return phase === 'blocked' && trouble === 'folder'
}

/** Makes the worktree of an iteration anew; false where there is none. */
async function mended({ task, role }: Tend, { gear, loop }: Desk): Promise<boolean> {
  const now = task === null ? undefined : taskOf(loop(), task.item.key)
  const place = role === 'resolve' ? now?.resolution : now?.place
  if (!place || place.branch === null || place.since.head === null) return false
  const bench = { path: gear.layout.topOf(place.cwd), branch: place.branch }
  await gear.workshop.mend(gear.self.cwd, bench, place.since.head)
  return true
}

/** A name that somebody else has by chance is made longer. */
async function engage(deed: Tend, desk: Desk): Promise<SessionView> {
  const { gear, ending } = desk
  const key = `${deed.role} ${deed.iteration}`
  const request = await requestFor(deed, desk)
  try {
    return await gear.hands.engage(key, request, ending)
  } catch (cause) {
    if (!(cause instanceof Refusal) || cause.code !== 'name-taken') throw cause
    const name = `${(request.name ?? '').slice(0, 58)}-${gear.self.id.slice(0, 4)}`
    return gear.hands.engage(key, { ...request, name }, ending)
  }
}

/** Nobody could work like this. */
function unstarted({ message, hint }: Refusal): WorkerEnd {
  const reason = hint === undefined ? message : `${message} (${hint})`
  return { outcome: 'failed', reason, trouble: 'start', said: '', spent: NOTHING_SPENT }
}

function endOf({ id }: SessionView, { gear }: Desk): WorkerEnd {
  const record = gear.hands.record(id)
  const said = record?.lastWord?.text ?? ''
  const spent = record === undefined ? NOTHING_SPENT : spentBy(record.spending)
  if (record?.phase.name !== 'ended')
    return { outcome: 'failed', reason: 'its session was removed', trouble: null, said, spent }
  const { outcome, reason, trouble } = record.phase
  return { outcome, reason, trouble, said, spent }
}

function restOf({ phase, reason, trouble }: SessionView): { reason: string; isLimit: boolean } | null {
  if (phase !== 'resting' && phase !== 'blocked') return null
  return { reason: reason ?? phase, isLimit: trouble === 'rate-limit' }
}

function untilCalledOff(ending: AbortSignal): Promise<void> {
  return new Promise(resolve => ending.addEventListener('abort', () => resolve(), { once: true }))
}

async function requestFor(deed: Tend, desk: Desk): Promise<Omit<RunRequest, 'parent'>> {
  const { self, spec, env } = desk.gear
  const { agent, argv, model, effort, autonomy, maxTime, limits } = spec.worker
  const cwd = placeOf(deed, desk)
  return {
    agent,
    argv,
    prompt: Buffer.from(await promptOf(deed, desk, cwd)).toString('base64'),
    name: nameFor(deed, self),
    cwd,
    env: { ...env, PWD: cwd, ...(await traced(deed, desk)) },
    mode: 'headless',
    maxTime,
    autonomy,
    ...(model !== null && { model }),
    ...(effort !== null && { effort }),
    limits: {
      ...(limits.usd !== null && { usd: limits.usd }),
      ...(limits.tokens !== null && { tokens: limits.tokens }),
      ...(limits.turns !== null && { turns: limits.turns }),
    },
    projectFiles: false,
    ...spec.worker.care,
  }
}

/** Its git commands are written down: in a checkout that others use, they tell which commits are its own. */
async function traced({ task }: Tend, { gear }: Desk): Promise<Record<string, string>> {
  const file = task === null ? null : await traceOf(task, gear)
  return file === null ? {} : { GIT_TRACE2_EVENT: file }
}

/** Null where the user has git write elsewhere. */
export async function traceOf({ number }: LoopTask, { workshop, self, env }: Gear): Promise<string | null> {
  return env['GIT_TRACE2_EVENT'] === undefined ? workshop.traceFile(self.cwd, `${self.id}-${number}`) : null
}

/** A task's name holds 63 characters; its number and iteration are what tells it from others. */
function nameFor({ task, iteration }: Tend, self: Self): string {
  const end = `${slug(task?.item.label ?? 'plan', 'task')}-${iteration}`
  return `${self.task.slice(0, 60 - end.length).replace(/-+$/, '')}-${end}`
}

function placeOf({ task, role }: Tend, { gear, loop }: Desk): string {
  const now = task === null ? undefined : taskOf(loop(), task.item.key)
  const place = role === 'resolve' ? now?.resolution : now?.place
  return place?.cwd ?? gear.self.cwd
}

async function promptOf({ task, role }: Tend, { gear, loop }: Desk, cwd: string): Promise<string> {
  if (task === null) return planPrompt(loop(), gear.self.prompt)
  const log = await gear.workshop.log(cwd, LOG)
  return promptFor(loop(), taskOf(loop(), task.item.key) ?? task, role, { log, list: listFor(cwd, gear) })
}

/** In a worktree there is no list that git does not know. */
function listFor(cwd: string, { source, self }: Desk['gear']): string | null {
  if (source.file === null || fs.existsSync(path.join(cwd, source.file))) return null
  const text = fs.existsSync(path.join(self.cwd, source.file)) ? listContent(self.cwd, source.file).toString() : ''
  return text.length > LONGEST_LIST ? `${text.slice(0, LONGEST_LIST)}\n…` : text
}
