import fs from 'node:fs'
import path from 'node:path'
import type { LoopEffect } from '../../core/loop/effects.ts'
import { findTask } from '../../core/loop/update.ts'
import { type ChangedFile, type DetailedEvidence, type WorkEvidence, hasWork } from '../../core/loop/evidence.ts'
import type { LoopTask, TaskCheckout } from '../../core/loop/loop.ts'
import type { LostWork } from '../../core/loop/lost-work.ts'
import { invariant } from '../../lib/errors.ts'
import type { CheckResult } from '../../ports/checks.ts'
import type { EffectRun, LoopContext } from '../context.ts'
import { returnToLoopBranch } from '../audit/return-to-branch.ts'
import { readListAfterWork } from './task-list.ts'
import { traceFileFor } from './run-worker.ts'
import { NO_TAMPERING, type TamperingReport, detectTampering } from '../../core/tampering/detect.ts'
import { readTextChanges } from '../../world/git/worktrees/file-texts.ts'

type VerifyEffect = Extract<LoopEffect, { type: 'judge' }>

/** Gathers what there is to see of an iteration. What is known to be no good is not checked. */
export async function verifyTask({ task, role, iteration }: VerifyEffect, run: EffectRun): Promise<void> {
  const { context, report, ending } = run
  const { worktrees } = context
  const place = role === 'resolve' ? task.resolution : task.place
  invariant(place !== null, `task ${task.item.label} was worked on nowhere`)
  const returned = await returnToLoopBranch(run, task)
  if (returned.kind === 'lost') return report({ type: 'loop.impossible', reason: returned.why })
  const trace = await traceFileFor(task, context)
  const beside = await inspectCheckout(run, task, place, trace)
  const notes = [...(await context.refWatch.inspect(task, trace)), ...beside.notes]
  // A worktree is its agent's alone.
  const worker = place.branch === null && trace !== null ? { trace, since: task.tries[0]?.since ?? 0 } : null
  const keepAs = `${context.session.id}/${task.number}`
  // A task whose work was lost may bring that back.
  const begunAt = (task.reopened ?? 0) > 0 ? run.loop().createdAt : (task.tries[0]?.since ?? 0)
  const branch = task.place?.branch ?? null
  const all = await worktrees.collectEvidence(place.cwd, place.since, context.excludedPaths, {
    backupName: keepAs,
    worker,
    begunAt,
    branch,
  })
  const seen = place.branch === null ? all : withoutRepositories(all)
  const at = place.branch === null ? undefined : { cwd: place.cwd, branch: place.branch }
  const audited = await context.audit.auditIteration(run.loop(), { since: place.since, seen, at })
  const { evidence, losses, thinned } = audited
  const left = run.loop().marking === 'here' ? await readListAfterWork(run, task) : { list: null, note: null }
  const unresolved =
    role === 'resolve'
      ? task.clash.filter(file => hasConflictMarkers(path.join(context.paths.topOf(place.cwd), file)))
      : seen.conflicts
  // A merge that somebody has resolved is finished for them.
  const underWay = role === 'resolve' && seen.underWay?.startsWith('a merge') ? null : seen.underWay
  const isWhole = unresolved.length === 0 && underWay === null
  const weakened = await findWeakenings(place.cwd, seen, context)
  const isWorthIt = isWhole && weakened.refused.length === 0 && isWorthChecking(task, evidence)
  const check = isWorthIt ? await runCheck(place, iteration, run) : null
  if (ending.aborted) return
  const strayed = returned.strayed ?? beside.strayed ?? describeOwnRepositories(task, all, seen)
  const taken = [...losses, ...beside.losses]
  const found = {
    evidence,
    check,
    list: left.list,
    listNote: left.note,
    unresolved,
    underWay,
    losses: taken,
    strayed,
    weakened,
    thinned,
    notes,
  }
  report({ type: 'task.judged', task: task.item.key, iteration, ...found })
  if (trace !== null && findTask(run.loop(), task.item.key)?.stand.name === 'done') fs.rmSync(trace, { force: true })
}

/** Makes a worktree anew that somebody has removed, and looks at what was done to the user's checkout. */
async function inspectCheckout(
  { context, loop }: EffectRun,
  task: LoopTask,
  { cwd, branch, since }: TaskCheckout,
  trace: string | null,
): Promise<{ strayed: string | null; losses: readonly LostWork[]; notes: readonly string[] }> {
  const { worktrees, paths, session, checkoutWatch } = context
  if (branch === null) return { strayed: null, losses: [], notes: [] }
  const worktree = { path: paths.topOf(cwd), branch }
  const missing = since.head === null ? null : await worktrees.repair(session.cwd, worktree, since.head)
  const seen = await checkoutWatch.inspect(loop(), task, trace)
  const note = `the ${missing === 'folder' ? 'worktree' : 'branch'} of task ${task.item.label} was removed while its agent worked; the loop makes a new one`
  return { ...seen, strayed: seen.strayed ?? (missing === null ? null : note) }
}

/** A repository that was made in a worktree is not merged: what is in it is no work. */
function withoutRepositories(seen: DetailedEvidence): DetailedEvidence {
  const isStray = ({ before, after }: ChangedFile): boolean => before === null && after?.startsWith('160000') === true
  return seen.changed.some(isStray) ? { ...seen, changed: seen.changed.filter(file => !isStray(file)) } : seen
}

function describeOwnRepositories({ item }: LoopTask, all: DetailedEvidence, seen: DetailedEvidence): string | null {
  const names = all.changed.filter(file => !seen.changed.includes(file)).map(({ name }) => name)
  if (names.length === 0) return null
  return `the agent of task ${item.label} made a repository of its own at ${names.join(', ')}: the loop does not merge its contents`
}

function isWorthChecking({ stand }: LoopTask, evidence: WorkEvidence): boolean {
  const isFlawed = stand.name === 'judging' && stand.flaw !== null
  return !isFlawed && hasWork(evidence)
}

/** Null where there is nothing to run. */
export async function runCheck(
  { cwd }: Pick<TaskCheckout, 'cwd'>,
  name: number | string,
  { context, ending }: EffectRun,
): Promise<CheckResult | null> {
  const { spec, checks, env, logFolder } = context
  // A check that is found later is the agent's own: it is run only where the agent may run anything itself.
  const isToSeek = spec.seek === true && spec.worker.autonomy === 'full'
  const check = spec.check ?? (isToSeek ? checks.detect(cwd) : null)
  if (check === null) return null
  const log = path.join(logFolder, `check-${name}.log`)
  const result = await checks.run(check, { cwd, env: { ...env, PWD: cwd }, log, limit: spec.checkLimit }, ending)
  // Of a check that was only found, nothing is known where there are no tests yet. One that was asked for must pass.
  const isSought = spec.check === null
  return isSought && result.isUnknown === true && result.took < spec.checkLimit ? null : result
}

/** A conflict that nobody has resolved. */
export function hasConflictMarkers(file: string): boolean {
  try {
    return /^(?:<{7}|>{7})(?: |$)/m.test(fs.readFileSync(file, 'latin1'))
  } catch {
    return false // Removed, which resolves it.
  }
}

/** Runs the check before any task is begun: a check that fails by itself is nobody's fault. */
export async function runFirstCheck(run: EffectRun): Promise<void> {
  const { context, loop, report, ending } = run
  const { session, paths } = context
  const cwd = loop().branch === null ? session.cwd : paths.folderIn(paths.integration)
  const check = await runCheck({ cwd }, 'first', run)
  // A check that cannot be run at all is no excuse: nothing would ever be proven.
  const told = check?.isUnknown === true ? null : check
  if (!ending.aborted) report({ type: 'check.tried', check: told, trouble: null })
}

/** Looks once more before the end whether finished work is still there: the last check, or somebody else, may have removed it. */
export async function finalAudit({ context, loop, report }: EffectRun): Promise<void> {
  const { tree } = await context.worktrees.snapshot(context.session.cwd)
  const { losses, thinned } = await context.audit.auditSince(loop(), tree)
  report({ type: 'loop.audited', losses, notes: thinned })
}

/** What was done, from the beginning of a task to now, that makes the proof of its work weaker. */
async function findWeakenings(
  cwd: string,
  { changed }: Pick<DetailedEvidence, 'changed'>,
  context: LoopContext,
): Promise<TamperingReport> {
  if (changed.length === 0) return NO_TAMPERING
  const { paths, spec, worktrees } = context
  const top = paths.topOf(cwd)
  const { changes, read } = await readTextChanges(worktrees, { cwd, top }, changed)
  const fromTop = (pattern: string): string => path.join(paths.subfolder, pattern)
  const { protect = [], allow = [] } = spec.guard ?? {}
  const check = spec.check === null ? null : { line: spec.check.line, folder: paths.subfolder, top }
  return detectTampering(changes, { check, protect: protect.map(fromTop), allow: allow.map(fromTop) }, read)
}
