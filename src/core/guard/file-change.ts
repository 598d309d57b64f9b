/** A file that is different from before. Paths are counted from the top of the repository. */
export interface FileChange {
  readonly path: string
  /** Null: it was not there, or is not there any more. */
  readonly before: string | null
  readonly after: string | null
}

/** Why a piece of work is not believed, a file each. */
export interface Weakening {
  readonly path: string
  /** A part of a sentence: `package.json: the script test was changed`. */
  readonly what: string
}
