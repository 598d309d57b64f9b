import type { TaskList, ItemMark } from '../core/loop/list/task-list.ts'

/** Where a loop finds its tasks. Whatever is wrong with it is thrown as `Trouble`. */
export interface TaskSource {
  readonly kind: 'markdown' | 'yaml' | 'beads'
  /** The file, for those that have one: relative to the folder it is read in. */
  readonly file: string | null
  /** The list as it is in this folder, which may be another checkout of the same project. */
  read(cwd: string, abortSignal: AbortSignal): Promise<TaskList>
  /**
   * Writes marks into the list of that folder, all or none, and leaves every other byte as it is. What is marked so already stays. One
   * whose key is no longer there is passed over.
   */
  mark(cwd: string, marks: readonly ItemMark[], abortSignal: AbortSignal): Promise<void>
}
