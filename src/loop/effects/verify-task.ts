import path from 'node:path'
import type { LoopEffect } from '../../core/loop/derive-effects.ts'
import { findTask } from '../../core/loop/loop-updates.ts'
import { type ChangedFile, type DetailedEvidence, type WorkEvidence, hasWork } from '../../core/loop/work-evidence.ts'
import type { LoopTask, TaskCheckout } from '../../core/loop/loop-state.ts'
import { formatFew, type LostWork } from '../../core/loop/lost-work/lost-work.ts'
import { invariant } from '../../lib/errors.ts'
import type { CheckResult } from '../../ports/checks.ts'
import type { EffectRun, LoopContext } from '../context.ts'
import { returnToLoopBranch } from '../audit/return-to-branch.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import type { GitLock } from '../../ports/worktrees.ts'
import { describeNewBranches } from '../audit/ref-watch.ts'
import { type ListAfterWork, readListAfterWork } from './task-list.ts'
import { traceFileFor } from './run-worker.ts'
import { NO_TAMPERING, type TamperingReport, detectTampering } from '../../core/tampering/detect-tampering.ts'

/** The verifier reads only the list in the user's checkout. */
const NO_LIST: ListAfterWork = { list: null, note: null, restoreCommand: null }

type VerifyEffect = Extract<LoopEffect, { type: 'verify' }>

/** Collects the evidence of an iteration. Skips the check if the work has failed already. */
export async function verifyTask({ task, role, iteration }: VerifyEffect, run: EffectRun): Promise<void> {
  const { context, report, ending } = run
  const { worktrees } = context
  const place = role === 'resolve' ? task.resolution : task.checkout
  invariant(place !== null, `task ${task.item.label} has no checkout`)
  const returned = await returnToLoopBranch(run, task)
  if (returned.kind === 'lost') return report({ type: 'loop.impossible', reason: returned.why })
  const trace = await traceFileFor(task, context)
  const beside = await inspectCheckout(run, task, place, trace)
  const refs = await context.refWatch.inspect(task, trace)
  // The driver itself removes old locks in worktrees of ours.
  const locks = place.branch === null ? worktrees.listLocks(place.cwd) : []
  // Only its own agent works in a worktree.
  const isTraced = trace !== null && place.isMoved !== true
  const worker = place.branch === null && isTraced ? { trace, since: task.tries[0]?.since ?? 0 } : null
  const keepAs = `${context.session.id}/${task.number}`
  // A task whose work was lost may restore that work.
  const begunAt = (task.reopened ?? 0) > 0 ? run.loop().createdAt : (task.tries[0]?.since ?? 0)
  const branch = task.checkout?.branch ?? null
  const all = await worktrees.collectEvidence(place.cwd, place.since, context.excludedPaths, {
    backupName: keepAs,
    worker,
    begunAt,
    branch,
  })
  const nested = findNestedRepositories(all)
  const seen = withoutCredit(all, nested)
  const at = place.branch === null ? undefined : { cwd: place.cwd, branch: place.branch }
  const audited = await context.audit.auditIteration(run.loop(), { task, since: place.since, seen, at })
  const { evidence, losses, shortenedFiles } = audited
  const left = run.loop().tickAt === 'here' ? await readListAfterWork(run, task) : NO_LIST
  const unresolved =
    role === 'resolve' ? worktrees.findConflictMarkers(context.paths.topOf(place.cwd), task.conflicts) : seen.conflicts
  // The loop commits a merge that the agent has resolved.
  const underWay = role === 'resolve' && seen.underWay?.startsWith('a merge') ? null : seen.underWay
  const isWhole = unresolved.length === 0 && underWay === null
  const weakened = await findWeakenings(place.cwd, seen, context)
  const shouldCheck = isWhole && weakened.refused.length === 0 && isWorthChecking(task, evidence)
  const check = shouldCheck ? await runCheck(place, iteration, run) : null
  if (ending.aborted) return
  const outsideChanges = returned.outsideChanges ?? beside.outsideChanges ?? describeNested(task, nested)
  const taken = [...losses, ...beside.losses]
  const found = {
    evidence,
    check,
    list: left.list,
    listNote: left.note,
    restoreListCommand: left.restoreCommand,
    ...(seen.isBaselineLost === true && { isBaselineLost: seen.isBaselineLost }),
    unresolved,
    underWay,
    losses: taken,
    outsideChanges,
    weakened,
    shortenedFiles,
    notes: [
      ...audited.notes,
      ...refs.notes,
      ...beside.notes,
      ...(hasWork(evidence) || outsideChanges !== null ? [] : describeNewBranches(task, refs.newBranches)),
      ...describeLeftLocks(task, worktrees.listLocks(place.cwd), locks),
    ],
  }
  report({ type: 'task.verified', task: task.item.key, iteration, ...found })
  if (trace !== null && findTask(run.loop(), task.item.key)?.state.name === 'done') worktrees.removeTrace(trace)
}

/** Recreates a removed worktree, and compares the user's checkout. */
async function inspectCheckout(
  { context, loop }: EffectRun,
  task: LoopTask,
  { cwd, branch, since }: TaskCheckout,
  trace: string | null,
): Promise<{ outsideChanges: string | null; losses: readonly LostWork[]; notes: readonly string[] }> {
  const { worktrees, paths, session, checkoutWatch } = context
  if (branch === null) return { outsideChanges: null, losses: [], notes: [] }
  const worktree = { path: paths.topOf(cwd), branch }
  const missing = since.head === null ? null : await worktrees.repair(session.cwd, worktree, since.head)
  const seen = await checkoutWatch.inspect(loop(), task, trace)
  const note = `the ${missing === 'folder' ? 'worktree' : 'branch'} of task ${task.item.label} was removed while its agent worked; the loop makes a new one`
  return { ...seen, outsideChanges: seen.outsideChanges ?? (missing === null ? null : note) }
}

/**
 * Finds repositories that an agent created: the project's git stores only the id of their commit, and the loop does not
 * merge them. A committed submodule is no such repository.
 */
function findNestedRepositories({ changed }: DetailedEvidence): readonly ChangedFile[] {
  const hasSubmodules = changed.some(({ path: file, after }) => file === '.gitmodules' && after !== null)
  return changed.filter(
    ({ before, after, isCommitted }) =>
      before === null && after?.startsWith('160000') === true && !(hasSubmodules && isCommitted),
  )
}

/** Returns the evidence in which these files do not count as the agent's work. */
function withoutCredit(seen: DetailedEvidence, files: readonly ChangedFile[]): DetailedEvidence {
  if (files.length === 0) return seen
  return { ...seen, changed: seen.changed.map(file => (files.includes(file) ? { ...file, isOwn: false } : file)) }
}

function describeNested({ item }: LoopTask, nested: readonly ChangedFile[]): string | null {
  if (nested.length === 0) return null
  const names = formatFew(nested.map(({ name }) => name))
  return `the agent of task ${item.label} made a repository of its own at ${names}: its content is not in the project’s git, and does not count as work`
}

/** A lock that existed before and after the verification is not that of a git command of the user. */
function describeLeftLocks({ item }: LoopTask, now: readonly GitLock[], before: readonly GitLock[]): string[] {
  const left = now.filter(({ stamp, isHeld }) => !isHeld && before.some(lock => lock.stamp === stamp))
  return left.map(
    ({ file }) =>
      `git cannot commit while ${file} exists, which a git command may have left while an agent worked on task ${item.label}: \`${formatCommandLine(['rm', '--', file])}\``,
  )
}

function isWorthChecking({ state }: LoopTask, evidence: WorkEvidence): boolean {
  const hasFailed = state.name === 'verifying' && state.failure !== null
  return !hasFailed && hasWork(evidence)
}

/** Returns null if there is no check to run. */
export async function runCheck(
  { cwd }: Pick<TaskCheckout, 'cwd'>,
  name: number | string,
  { context, ending }: EffectRun,
): Promise<CheckResult | null> {
  const { spec, checks, env, logFolder } = context
  // A check that appears later is the agent's own: the loop runs it only if the agent may run anything itself.
  const isToSeek = spec.detectCheckEachTime === true && spec.worker.autonomy === 'full'
  const check = spec.check ?? (isToSeek ? checks.detect(cwd) : null)
  if (check === null) return null
  const log = path.join(logFolder, `check-${name}.log`)
  const result = await checks.run(check, { cwd, env: { ...env, PWD: cwd }, log, limit: spec.checkLimit }, ending)
  // A detected check proves nothing while the project has no tests. A check that the user asked for must pass.
  const isSought = spec.check === null
  return isSought && result.isUnknown === true && result.took < spec.checkLimit ? null : result
}

/** Runs the check before the first task: a check that fails at the start is not a task's fault. */
export async function runFirstCheck(run: EffectRun): Promise<void> {
  const { context, loop, report, ending } = run
  const { session, paths } = context
  const cwd = loop().branch === null ? session.cwd : paths.folderIn(paths.integration)
  const check = await runCheck({ cwd }, 'first', run)
  // A check that cannot run at all does not count as failing at the start: otherwise the loop could never verify
  // anything.
  const baseline = check?.isUnknown === true ? null : check
  if (!ending.aborted) report({ type: 'baseline.checked', check: baseline, trouble: null })
}

/** Audits finished work once more before the end: the last check or another program may have removed it. */
export async function finalAudit({ context, loop, report }: EffectRun): Promise<void> {
  const { tree } = await context.worktrees.snapshot(context.session.cwd)
  const { losses, shortenedFiles } = await context.audit.auditSince(loop(), tree)
  report({ type: 'loop.audited', losses, notes: shortenedFiles })
}

/** Finds changes since the start of a task that weaken its verification. */
async function findWeakenings(
  cwd: string,
  { changed }: Pick<DetailedEvidence, 'changed'>,
  context: LoopContext,
): Promise<TamperingReport> {
  if (changed.length === 0) return NO_TAMPERING
  const { paths, spec, worktrees } = context
  const top = paths.topOf(cwd)
  const { changes, read } = await worktrees.readTextChanges({ cwd, top }, changed)
  const fromTop = (pattern: string): string => path.join(paths.subfolder, pattern)
  const { protect = [], allow = [] } = spec.guard ?? {}
  const check = spec.check === null ? null : { line: spec.check.line, folder: paths.subfolder, top }
  return detectTampering(changes, { check, protect: protect.map(fromTop), allow: allow.map(fromTop) }, read)
}
