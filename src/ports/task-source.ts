import type { TaskList, ItemMark } from '../core/loop/list/task-list.ts'

/** The source of a loop's tasks. Every failure of the source throws `Trouble`. */
export interface TaskSource {
  readonly kind: 'markdown' | 'yaml' | 'beads'
  /** The file of the list, relative to the folder that the list is read in; null if the source has no file. */
  readonly file: string | null
  /** Returns the list as it is in this folder, which may be another checkout of the same project. */
  read(cwd: string, abortSignal: AbortSignal): Promise<TaskList>
  /**
   * Writes marks into the list of that folder, all or none, and leaves every other byte as it is. Skips items that
   * already have the mark, and keys that the list no longer has.
   */
  mark(cwd: string, marks: readonly ItemMark[], abortSignal: AbortSignal): Promise<void>
}
