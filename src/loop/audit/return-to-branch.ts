import path from 'node:path'
import type { LoopTask } from '../../core/loop/loop-state.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import type { EffectRun, LoopSession } from '../context.ts'

/** Says if the verifier can judge the iteration; `outsideChanges` is a sentence about the agent's changes to the branch. */
export type BranchReturn =
  | { readonly kind: 'here'; readonly outsideChanges: string | null }
  | { readonly kind: 'lost'; readonly why: string }

/** Checks the loop's branch out again if an agent has left it. */
export async function returnToLoopBranch({ context, loop }: EffectRun, task: LoopTask): Promise<BranchReturn> {
  const { worktrees, session, paths, spec } = context
  const top = paths.topOf(session.cwd)
  if (!worktrees.hasFolder(session.cwd)) return { kind: 'lost', why: describeMissingFolder(session) }
  if (!worktrees.hasRepository(top)) return { kind: 'lost', why: describeDeletedRepository(top, task) }
  const { userBranch } = loop()
  if (spec.parallel !== null || userBranch === undefined) return { kind: 'here', outsideChanges: null }
  const who = `the agent of task ${task.item.label}`
  const [hindrance] = await worktrees.hindrances(session.cwd)
  if (hindrance !== undefined)
    return {
      kind: 'lost',
      why: `git does not use your checkout any more, because somebody set ${hindrance.what} while ${who} worked: \`${hindrance.cure}\`, then oneshot resume ${session.name}`,
    }
  const returned = await worktrees.returnToBranch(session.cwd, userBranch, task.checkout?.since ?? null)
  switch (returned.kind) {
    case 'there':
      return { kind: 'here', outsideChanges: null }
    case 'followed':
      return {
        kind: 'here',
        outsideChanges: `${who} left ${userBranch} for ${returned.from}; its commits from there are on ${userBranch} now`,
      }
    case 'pointed':
      return {
        kind: 'here',
        outsideChanges: `${who} pointed HEAD to ${returned.from} without a checkout; HEAD names ${userBranch} again, and no file was touched`,
      }
    case 'returned':
      return {
        kind: 'here',
        outsideChanges: `${who} left ${userBranch} for ${returned.from}; ${userBranch} is checked out again${describeLeft(returned)}`,
      }
    case 'in-progress':
      return {
        kind: 'here',
        outsideChanges: `${who} left ${userBranch} for ${returned.from} and did not finish ${returned.operation}; the loop does not move HEAD meanwhile: \`${returned.abort} && ${formatCommandLine(['git', 'checkout', userBranch])}\` ends it`,
      }
    case 'stuck':
      return {
        kind: 'lost',
        why: `${who} left ${userBranch} for ${returned.from}, and ${userBranch} cannot be checked out again (${returned.why}): ${formatCommandLine(['git', 'checkout', userBranch])}, then oneshot resume ${session.name}`,
      }
  }
}

/** The agent chose the name of the branch, which may contain characters that are special to a shell. */
function describeLeft({ from, head }: { from: string; head: string | null }): string {
  if (head === null) return ''
  return from === 'no branch'
    ? `, and its commits are at ${head.slice(0, 10)}: git merge ${head.slice(0, 10)}`
    : `, and its commits are on ${from}: ${formatCommandLine(['git', 'merge', from.startsWith('-') ? `heads/${from}` : from])}`
}

/** `findNextCommand` recognizes the first words. */
export function describeMissingFolder({ cwd, name }: LoopSession): string {
  return `its folder ${cwd} is gone: if you moved the project, oneshot resume ${name} --cwd DIR; else restore it from a clone or a backup`
}

function describeDeletedRepository(top: string, { item }: LoopTask): string {
  return `the repository ${path.join(top, '.git')} was deleted while an agent worked on task ${item.label}, and its commits and checkpoints with it: restore it from a clone or a backup`
}
