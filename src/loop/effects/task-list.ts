import type { ItemMark, TaskList } from '../../core/loop/list/task-list.ts'
import type { LoopTask } from '../../core/loop/loop-state.ts'
import { Trouble, errorMessage } from '../../lib/errors.ts'
import type { EffectRun, LoopContext, LoopView } from '../context.ts'
import { listKeys } from '../../core/loop/list/renamed-items.ts'
import { findRemovedTasks } from '../../core/loop/list/sync-tasks.ts'

type ListRun = LoopView & Pick<EffectRun, 'ending'>

/** Returns the current list, and copies it. */
export async function readList(run: ListRun): Promise<TaskList> {
  const list = await readItems(run)
  saveCopy(run, list)
  return list
}

/** Returns the current list. A tracker lists only open issues: a known issue that it no longer lists is done. */
export async function readItems({ context, loop, ending }: ListRun): Promise<TaskList> {
  const { taskSource, session } = context
  const list = await taskSource.read(session.cwd, ending)
  if (taskSource.kind !== 'beads') return list
  const open = new Set(list.items.map(({ key }) => key))
  const closed = loop().tasks.filter(({ item, state }) => !open.has(item.key) && state.name !== 'dropped')
  return { ...list, items: [...list.items, ...closed.map(({ item }) => ({ ...item, isDone: true }))] }
}

/** A list without any task is no list to restore. */
function saveCopy({ context }: ListRun, { items }: TaskList): void {
  if (items.length > 0) context.listBackup.save(context.session.cwd)
}

/** The list after an agent's work, and a note for the user. */
export interface ListAfterWork {
  /** Null if the list is unreadable; the task is not at fault. */
  readonly list: TaskList | null
  readonly note: string | null
  /** The command that restores the list from before the work, if the agent removed tasks from it; else null. */
  readonly restoreCommand: string | null
}

/** Reads the list after an agent has worked. Restores a list that the agent deleted, or in which it left no task. */
export async function readListAfterWork(run: ListRun, task: LoopTask): Promise<ListAfterWork> {
  const { context } = run
  const who = `the agent of task ${task.item.label}`
  try {
    const isBack = context.listBackup.restore(context.session.cwd)
    const found = await readItems(run)
    const replaced = found.items.length === 0 ? context.listBackup.overwrite(context.session.cwd) : null
    const list = replaced === null ? found : await readItems(run)
    const restoreCommand = keepRemovedTasks(run, task, list)
    saveCopy(run, list)
    return { list, note: describeRestored(run, who, { isBack, replaced }), restoreCommand }
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    const note = `${errorMessage(cause)}, since ${who} worked here${restoreHint(context)}`
    return { list: null, note, restoreCommand: null }
  }
}

/** Returns a note if the loop has restored the list. */
function describeRestored(
  { context }: ListRun,
  who: string,
  { isBack, replaced }: { isBack: boolean; replaced: string | null },
): string | null {
  const { file } = context.taskSource
  if (isBack) return `${who} deleted ${file}: it is back as it was`
  if (replaced === null) return null
  return `${who} left no task in ${file}: it is back as it was, and the agent’s text is in ${replaced}`
}

/** Keeps the copy from before the work if an agent has removed tasks: the next copy lacks them. */
function keepRemovedTasks({ context, loop }: ListRun, task: LoopTask, list: TaskList): string | null {
  if (findRemovedTasks(loop(), list, task).length === 0) return null
  const name = `before-${task.tries.at(-1)?.iteration ?? 0}`
  context.listBackup.keep(name)
  return context.listBackup.restoreCommand(context.session.cwd, name)
}

/** Tells the user how to restore the loop's copy of the list; empty if there is no copy. */
export function restoreHint({ listBackup, session }: LoopContext): string {
  const command = listBackup.restoreCommand(session.cwd)
  return command === null ? '' : `; \`${command}\` brings it back as the loop last saw it`
}

/** Writes the results into the user's list. */
export async function markTasks(
  marks: readonly ItemMark[],
  { context, loop, report, ending }: EffectRun,
): Promise<void> {
  const keyOf = listKeys(loop())
  await context.taskSource.mark(
    context.session.cwd,
    marks.map(one => ({ ...one, key: keyOf(one.key) })),
    ending,
  )
  report({ type: 'list.marked', marks, trouble: null })
}
