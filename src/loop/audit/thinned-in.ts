import type { FileChange } from '../../core/loop/evidence.ts'
import { restoreListed } from '../../core/loop/restore-command.ts'
import { editsOf, type Lines, linesIn, minus, plus, thinnedBy } from '../../core/loop/thinned.ts'
import { shown } from '../../lib/raw-path.ts'
import type { Work } from './work.ts'

/** Files that are looked into; whoever edits more has a program do it. */
const MOST = 200

/** Names the files of finished tasks that these changes take most of the lines from. Costs one question to git, and mostly none. */
export async function thinnedIn(
  works: readonly Work[],
  compared: {
    changes: readonly (FileChange & { readonly removed?: number })[]
    pair: readonly [from: string, to: string]
    lost: ReadonlySet<string>
    /** The user's shell is at the top of the checkout. */
    isTop: boolean
    /** Files that other tasks have edited since. */
    later?: ReadonlySet<string> | undefined
  },
  read: (hashes: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<readonly string[]> {
  const { changes, pair, lost, later } = compared
  const changed = changes.filter(({ path }) => !lost.has(path) && later?.has(path) !== true)
  const edits = works.flatMap(({ task, span, files }) =>
    task === null ? [] : editsOf(files, changed).map(edit => ({ ...edit, task, span })),
  )
  if (edits.length === 0) return []
  const looked = edits.slice(0, MOST)
  const others = changed.filter(({ before, after }) => after !== null && before !== after).slice(0, MOST)
  const entries = looked.flatMap(({ own, change }) => [own.before, own.after, change.before, change.after])
  const hashes = [...entries, ...others.flatMap(({ before, after }) => [before, after])].flatMap(hashOf)
  const texts = await read(hashes)
  const linesOf = (entry: string | null): Lines => linesIn(texts.get(hashOf(entry)[0] ?? '') ?? '')
  return looked.flatMap(({ task, span, ...edit }) => {
    const came = others.filter(({ path }) => path !== edit.change.path)
    const added = came.map(({ before, after }) => minus(linesOf(after), linesOf(before)))
    const elsewhere = added.reduce(plus, new Map<string, number>())
    const thinned = thinnedBy(edit, linesOf, elsewhere)
    if (thinned === null) return []
    const { path, all, gone } = thinned
    const back = edit.change.before === edit.own.after ? span.now.tree : pair[0].replace('^{tree}', '')
    return [
      `${gone} of the ${all} lines that task ${task.item.label} added to ${shown(path)} are gone; \`${restoreListed(back, [path], compared.isTop)}\` brings the file back as it was`,
    ]
  })
}

function hashOf(entry: string | null): string[] {
  return entry === null ? [] : [entry.split(' ')[1] ?? '']
}
