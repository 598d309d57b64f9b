import type { ItemMark, TaskList } from '../../core/loop/list/task-list.ts'
import type { LoopTask } from '../../core/loop/loop-state.ts'
import { Trouble, errorMessage } from '../../lib/errors.ts'
import type { EffectRun, LoopContext, LoopView } from '../context.ts'
import { listKeys } from '../../core/loop/list/renamed-items.ts'

type ListRun = LoopView & Pick<EffectRun, 'ending'>

/** Returns the current list. A tracker lists only open issues: a known issue that it no longer lists is done. */
export async function readList({ context, loop, ending }: ListRun): Promise<TaskList> {
  const { taskSource, session } = context
  const list = await taskSource.read(session.cwd, ending)
  if (taskSource.kind !== 'beads') {
    if (list.items.length > 0) context.listBackup.save(session.cwd)
    return list
  }
  const open = new Set(list.items.map(({ key }) => key))
  const closed = loop().tasks.filter(({ item, state }) => !open.has(item.key) && state.name !== 'dropped')
  return { ...list, items: [...list.items, ...closed.map(({ item }) => ({ ...item, isDone: true }))] }
}

/** The list after an agent's work, and a note for the user. */
export interface ListAfterWork {
  /** Null if the list is unreadable; the task is not at fault. */
  readonly list: TaskList | null
  readonly note: string | null
}

/** Reads the list after an agent has worked. Restores a list that the agent deleted. */
export async function readListAfterWork(run: ListRun, { item }: LoopTask): Promise<ListAfterWork> {
  const { context } = run
  const { taskSource } = context
  const who = `the agent of task ${item.label}`
  try {
    const isBack = context.listBackup.restore(context.session.cwd)
    return {
      list: await readList(run),
      note: isBack ? `${who} deleted ${taskSource.file}: it is back as it was` : null,
    }
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    return { list: null, note: `${errorMessage(cause)}, since ${who} worked here${restoreHint(context)}` }
  }
}

/** Tells the user how to restore the loop's copy of the list; empty if there is no copy. */
export function restoreHint({ listBackup }: LoopContext): string {
  const command = listBackup.restoreCommand()
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
