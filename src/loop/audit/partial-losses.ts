import type { DetailedEvidence, FileChange } from '../../core/loop/work-evidence.ts'
import type { LoopTask } from '../../core/loop/loop-state.ts'
import { type WorkSpan, formatFew } from '../../core/loop/lost-work/lost-work.ts'
import { commitPathsCommand, restorePathsCommand, shortHash } from '../../core/loop/lost-work/restore-command.ts'
import {
  type LineCounts,
  addLines,
  countLines,
  findEdits,
  findRemovedLines,
  subtractLines,
} from '../../core/loop/lost-work/removed-lines.ts'
import { displayPath } from '../../lib/text/raw-path.ts'

/** Work that must not disappear. */
export interface FinishedWork {
  /** Null for the user's uncommitted files from the start of the loop. */
  readonly task: LoopTask | null
  readonly span: WorkSpan
  readonly files: readonly FileChange[]
}

/** The number of files to read; an edit of more files is the work of a program. */
const MAX_FILES = 200

/**
 * Names the files of finished tasks that lose most of their lines through these changes. Runs git once at most, and
 * usually not at all.
 */
export async function describeThinned(
  works: readonly FinishedWork[],
  compared: {
    changes: readonly (FileChange & { readonly removed?: number })[]
    pair: readonly [from: string, to: string]
    lost: ReadonlySet<string>
    /** True if the user's shell is at the top of the checkout. */
    isTop: boolean
    /** Files that other tasks have edited since. */
    editedLater?: ReadonlySet<string> | undefined
  },
  read: (hashes: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<readonly string[]> {
  const { changes, pair, lost, editedLater } = compared
  const changed = changes.filter(({ path }) => !lost.has(path) && editedLater?.has(path) !== true)
  const edits = works.flatMap(({ task, span, files }) =>
    task === null ? [] : findEdits(files, changed).map(edit => ({ ...edit, task, span })),
  )
  if (edits.length === 0) return []
  const looked = edits.slice(0, MAX_FILES)
  const others = changed.filter(({ before, after }) => after !== null && before !== after).slice(0, MAX_FILES)
  const entries = looked.flatMap(({ own, change }) => [own.before, own.after, change.before, change.after])
  const hashes = [...entries, ...others.flatMap(({ before, after }) => [before, after])].flatMap(entryHash)
  const texts = await read(hashes)
  const linesOf = (entry: string | null): LineCounts => countLines(texts.get(entryHash(entry)[0] ?? '') ?? '')
  return looked.flatMap(({ task, span, ...edit }) => {
    const came = others.filter(({ path }) => path !== edit.change.path)
    const added = came.map(({ before, after }) => subtractLines(linesOf(after), linesOf(before)))
    const elsewhere = added.reduce(addLines, new Map<string, number>())
    const shortenedFiles = findRemovedLines(edit, linesOf, elsewhere)
    if (shortenedFiles === null) return []
    const { path, all, gone } = shortenedFiles
    const back = edit.change.before === edit.own.after ? span.now.tree : pair[0].replace('^{tree}', '')
    return [
      `${gone} of the ${all} lines that task ${task.item.label} added to ${displayPath(path)} are gone; \`${restorePathsCommand(back, [path], compared.isTop)}\` brings the file back as it was`,
    ]
  })
}

function entryHash(entry: string | null): string[] {
  return entry === null ? [] : [entry.split(' ')[1] ?? '']
}

/**
 * Names finished tasks whose commits an agent removed from the branch while their files stayed, as `git reset --soft`
 * does: only the files in the checkout remain of that work. Runs git only if committed files have become uncommitted.
 */
export async function describeUncommitted(
  works: readonly FinishedWork[],
  seen: Pick<DetailedEvidence, 'changed' | 'loose'>,
  { isTop, droppedOf }: { isTop: boolean; droppedOf: (commits: readonly string[]) => Promise<readonly string[]> },
): Promise<readonly string[]> {
  const edited = new Set(seen.changed.map(({ path }) => path))
  const sentences: string[] = []
  for (const { task, files } of works) {
    const { commits = [], uncommitted = 1 } = task?.evidence ?? {}
    if (task === null || commits.length === 0 || uncommitted > 0) continue
    const left = files.filter(({ path, after }) => after !== null && seen.loose.has(path) && !edited.has(path))
    const ids = left.length === 0 ? [] : await droppedOf(commits.map(({ id }) => id))
    if (ids.length === 0) continue
    const paths = left.map(({ path }) => path)
    const which = ids.length === 1 ? `commit ${shortHash(ids[0] ?? '')}` : `commits ${formatFew(ids.map(shortHash))}`
    const names = `${formatFew(paths.map(displayPath))} ${paths.length === 1 ? 'is' : 'are'}`
    sentences.push(
      `${which} of task ${task.item.label} ${ids.length === 1 ? 'is' : 'are'} no longer on the branch, and ${names} not committed; \`${commitPathsCommand(paths, isTop)}\` commits it again`,
    )
  }
  return sentences
}
