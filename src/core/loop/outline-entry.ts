/** A heading or an item, as it is being read. */
export interface Entry {
  readonly parent: Entry | null
  /** Of a heading; 0 for items. */
  readonly level: number
  title: string
  box: { readonly at: number; readonly isTicked: boolean } | null
  comments: readonly string[]
  readonly numbered: number | null
  readonly line: number
  /** Columns: of the mark, and of what is in it. */
  readonly column: number
  readonly content: number
  /** All that stands in it after its first line. */
  readonly lines: string[]
}

/** Where a line is in the text, and the comments that were on it. */
export interface Whereabouts {
  readonly comments: readonly string[]
  readonly line: number
  readonly start: number
}
