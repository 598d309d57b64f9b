import { toOneLine } from '../text/strip-terminal-controls.ts'
import { toWellFormed } from '../text/lossless-utf8.ts'
import { stripComments } from './html-comments.ts'
import { BlockParser } from './blocks.ts'
import { dedent, skipIndent, isBlank, type MarkdownLine } from './parse-line.ts'
import type { BlockEntry } from './blocks.ts'

/** A heading or a list item of a Markdown text, with its content. */
export interface OutlineNode {
  readonly title: string
  readonly comments: readonly string[]
  readonly parent: OutlineNode | null
  /** The position of the character in its box; null without a box. */
  readonly box: { readonly at: number; readonly isTicked: boolean } | null
  /** The number of its list, equal for all items; null if the list is not numbered. */
  readonly numbered: number | null
  /** Counts from 1. */
  readonly line: number
  readonly body: string
}

/** Returns the headings and items of a Markdown text, in order. */
export function parseOutline(text: string): OutlineNode[] {
  const { lines, starts } = splitLines(text)
  const blocks = new BlockParser()
  const openTo = lines.findLastIndex(line => line.includes('-->')) + 1
  let hiddenTo = frontMatterEnd(lines)
  for (const [index, raw] of lines.entries()) {
    if (index <= hiddenTo) continue
    const from = blocks.stripQuote({ text: raw, at: index === 0 && raw.startsWith('\ufeff') ? 1 : 0, column: 0 })
    if (blocks.addCodeLine(skipIndent(from))) continue
    const { text, comments, endsIn } = stripComments(lines, { index, from: from.at, openTo })
    hiddenTo = endsIn ?? hiddenTo
    const line: MarkdownLine = skipIndent({ ...from, text })
    if (isBlank(line) && text !== raw) continue
    blocks.addLine(line, { comments, line: index + 1, start: starts[index] as number })
  }
  return toNodes(blocks.entries)
}

/** Returns the lines without their ends, and the start of each. */
function splitLines(text: string): { lines: string[]; starts: number[] } {
  const lines: string[] = []
  const starts: number[] = []
  let start = 0
  for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r|$/g)) {
    lines.push(text.slice(start, index))
    starts.push(start)
    start = index + end.length
  }
  return { lines, starts }
}

/** Returns the last line of front matter, between lines of three hyphens; -1 without it. */
function frontMatterEnd(lines: readonly string[]): number {
  if (!/^\ufeff?---\s*$/.test(lines[0] ?? '')) return -1
  const end = lines.findIndex((line, index) => index > 0 && (line.trim() === '' || /^(?:---|\.\.\.)\s*$/.test(line)))
  return lines[end]?.trim() === '' ? -1 : end
}

function toNodes(entries: readonly BlockEntry[]): OutlineNode[] {
  const all = new Map<BlockEntry, OutlineNode>()
  for (const entry of entries) {
    const { comments, box, numbered, line, content } = entry
    all.set(entry, {
      title: toOneLine(toWellFormed(entry.title)),
      comments: comments.map(toWellFormed),
      parent: entry.parent === null ? null : (all.get(entry.parent) ?? null),
      box,
      numbered,
      line,
      get body() {
        return bodyOf(entry.lines, content) // Computed on demand, because callers read only the bodies of tasks.
      },
    })
  }
  return [...all.values()]
}

function bodyOf(lines: readonly string[], content: number): string {
  const text = lines.map(line => dedent(line, content).trimEnd()).join('\n')
  return toWellFormed(text.replace(/^\n+/, '').trimEnd())
}
