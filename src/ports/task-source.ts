import type { TaskList, ItemMark } from '../core/loop/list/task-list.ts'

/** The source of a loop's tasks. Every failure of the source throws `Trouble`. */
export interface TaskSource {
  readonly kind: 'markdown' | 'yaml' | 'beads'
  /** The file of the list, relative to the folder that the list is read in; null if the source has no file. */
  readonly file: string | null
  /** Returns true if the list exists in this folder; a source without a file always exists. */
  exists(cwd: string): boolean
  /** Returns the list as it is in this folder, which may be another checkout of the same project. */
  read(cwd: string, abortSignal: AbortSignal): Promise<TaskList>
  /** Returns the whole text of the list in this folder; empty if there is no file. */
  readText(cwd: string): string
  /**
   * Writes marks into the list of that folder, all or none, and leaves every other byte as it is. Skips items that
   * already have the mark, and keys that the list no longer has.
   */
  mark(cwd: string, marks: readonly ItemMark[], abortSignal: AbortSignal): Promise<void>
}

/** The loop's own copies of its list, for an agent that deletes or replaces the list. */
export interface ListBackup {
  /** Copies the list of this folder; does nothing if the copy is up to date, or if the list cannot be read. */
  save(cwd: string): void
  /**
   * Keeps the present copy under this name as well. A name that is taken keeps its first copy, so that a repeated call
   * changes nothing.
   */
  keep(name: string): void
  /** Restores a missing list from the copy. Returns false if something is in its place, or if there is no copy. */
  restore(cwd: string): boolean
  /**
   * Writes the copy over the list of this folder, and backs up the present text first. Returns the place of that backup;
   * null if there is no copy, or no list.
   */
  overwrite(cwd: string): string | null
  /**
   * Returns the command line that restores the list in this folder by hand, from the present copy or from a kept one;
   * null without a copy. The command moves aside whatever is in the place of the list, and writes through no link.
   */
  restoreCommand(cwd: string, name?: string): string | null
}
