import type { TaskList } from '../../core/loop/list/task-list.ts'
import { isInProgress } from '../../core/loop/loop-state.ts'
import type { LoopBase } from '../../core/loop/signals.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import { Trouble, errorMessage } from '../../lib/errors.ts'
import { describeAlternatives } from '../../views/loop/find-serial-loop-in-checkout.ts'
import type { EffectRun, LoopContext, LoopView } from '../context.ts'
import { readItems, readList, restoreHint } from './task-list.ts'

/** Inspects the repository and the list. Runs at each start, at any stage of the loop. */
export async function startLoop(run: EffectRun, isResumed = false): Promise<void> {
  const { context, report, ending } = run
  const { session, spec, worktrees } = context
  if (spec.plan !== 'none') await worktrees.initRepository(session.cwd)
  const survey = await worktrees.inspect(session.cwd)
  if (survey === null)
    return report({
      type: 'loop.impossible',
      reason: `${session.cwd} is not a git repository, and a loop needs git to see what its agents change: git init`,
    })
  if (spec.parallel !== null && survey.head === null)
    return report({
      type: 'loop.impossible',
      reason: 'the repository has no commit yet, and worktrees need one: git commit',
    })
  const busy = describeOtherLoop(context)
  if (busy !== null) return report({ type: 'loop.impossible', reason: busy })
  const list = await loadList(run, isResumed)
  if (typeof list === 'string') return report({ type: 'loop.impossible', reason: list })
  if (list === null || (spec.plan !== 'none' && list.items.length === 0)) return report({ type: 'loop.unplanned' })
  if (ending.aborted) return
  const base = await prepareBase(run)
  const elsewhere = wrongBranchReason(run, survey.branch, base)
  if (elsewhere !== null) return report({ type: 'loop.impossible', reason: elsewhere })
  report({ type: 'loop.loaded', list, base })
}

/** Describes a serial loop that started or resumed here earlier. */
function describeOtherLoop({ serialLoops }: LoopContext): string | null {
  const name = serialLoops.find({ isEarlier: true })
  return name === null ? null : `${name} already works in this checkout; ${describeAlternatives(name)}`
}

/** Missing work may be on the branch that the loop has worked on. */
function wrongBranchReason(
  { context, loop }: EffectRun,
  branch: string | null,
  { losses = [] }: LoopBase,
): string | null {
  const { userBranch } = loop()
  if (userBranch === undefined || userBranch === branch || losses.length === 0) return null
  const now = branch === null ? 'no branch is checked out' : `${branch} is checked out`
  return `this loop works on ${userBranch}, and ${now}: ${formatCommandLine(['git', 'checkout', userBranch])}, then oneshot resume ${context.session.name}`
}

/** Reads the plan that the agent wrote. */
export async function readPlan(run: EffectRun): Promise<void> {
  const list = await loadList(run)
  const none: TaskList = { items: [], objections: typeof list === 'string' ? [list] : [] }
  run.report({
    type: 'plan.read',
    list: list === null || typeof list === 'string' ? none : list,
    base: await prepareBase(run),
  })
}

/** Returns null if the list is not yet planned, and a sentence if it is unreadable. */
async function loadList(run: EffectRun, isResumed = false): Promise<TaskList | string | null> {
  const { session, spec, taskSource } = run.context
  const { tasks } = run.loop()
  try {
    // The loop was running and an agent is at work: the agent deleted the list. While a loop is stopped, a person may
    // have deleted it.
    const isBusy = tasks.some(isInProgress)
    if (!isResumed && isBusy) run.context.listBackup.restore(session.cwd)
    const isThere = taskSource.exists(session.cwd)
    if (!isThere && spec.plan !== 'none' && tasks.length === 0) return null
    if (!isThere) return `${taskSource.file} does not exist${restoreHint(run.context)}`
    // The verification of a working agent compares the list with the copy from before its work.
    return isBusy ? await readItems(run) : await readList(run)
  } catch (cause) {
    if (cause instanceof Trouble) return `${errorMessage(cause)}${restoreHint(run.context)}`
    throw cause
  }
}

async function prepareBase({ context, loop }: LoopView): Promise<LoopBase> {
  const { session, spec, worktrees, paths, taskSource } = context
  if (spec.parallel === null) return prepareCheckout({ context, loop })
  const { head, isClean } = (await worktrees.inspect(session.cwd)) ?? { head: null, isClean: true }
  const { integration } = paths
  const from = loop().tip ?? head
  if (from === null) throw new Trouble('beginning', 'the repository has no commit', { mayHelpToRetry: false })
  if (loop().tip !== null) await worktrees.repair(session.cwd, integration, from)
  await worktrees.open(session.cwd, integration, from)
  const isTracked = taskSource.exists(paths.folderIn(integration))
  const tickAt = taskSource.file === null ? 'here' : isTracked ? 'merge' : 'landing'
  const notes = isClean ? [] : ['uncommitted changes here are not in the worktrees']
  const now = loop().userChanges === undefined ? await worktrees.snapshot(session.cwd, `${session.id}/begin`) : null
  const userChanges = now === null ? {} : { userChanges: { since: { head, tree: `${head}^{tree}` }, now } }
  return { branch: integration.branch, tip: from, tickAt, notes, ...userChanges }
}

/** Prepares work in the user's checkout: audits finished work and records uncommitted files. */
async function prepareCheckout({ context, loop }: LoopView): Promise<LoopBase> {
  const { session, worktrees, audit } = context
  const now = await worktrees.snapshot(
    session.cwd,
    loop().userChanges === undefined ? `${session.id}/begin` : undefined,
  )
  // While an agent works, nobody can say who changed a file: the verification of that task audits it.
  const isBusy = loop().tasks.some(isInProgress)
  const { losses, shortenedFiles } = isBusy
    ? { losses: [], shortenedFiles: [] }
    : await audit.auditAll(loop(), now.tree)
  const userChanges =
    now.head === null ? {} : { userChanges: { since: { head: now.head, tree: `${now.head}^{tree}` }, now } }
  const { branch } = await worktrees.head(session.cwd)
  // A working agent may have left the branch.
  const userBranch = branch === null || isBusy ? {} : { userBranch: branch }
  return { branch: null, tip: null, tickAt: 'here', notes: shortenedFiles, losses, ...userChanges, ...userBranch }
}
