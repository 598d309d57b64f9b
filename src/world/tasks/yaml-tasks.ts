import { firstObjections, type ItemList, type Mark } from '../../core/loop/item.ts'
import { keysOf } from '../../core/loop/item-keys.ts'
import { orderOf } from '../../core/loop/order.ts'
import { yamlEdits } from './yaml-edits.ts'
import { type YamlEntry, yamlEntries } from './yaml-entries.ts'

/** The tasks of a YAML file. Throws what is wrong with it as a sentence. */
export function readYaml(text: string): ItemList {
  const { entries, objections } = yamlEntries(text)
  const keys = keysIn(entries)
  const order = orderOf(entries.map(entry => ({ ...entry, path: [], follows: [], names: entry.after })))
  const items = entries.map(({ title, body, isDone }, at) => ({
    key: keys[at] as string,
    label: String(at + 1),
    title,
    path: [],
    body,
    isDone,
    after: (order.after[at] ?? []).map(other => keys[other] as string),
  }))
  return { items, objections: firstObjections([...objections, ...order.objections]) }
}

/** The same text with tasks marked. Throws rather than answering one in which anything else would be different. */
export function markYaml(text: string, marks: readonly Mark[]): string {
  const { entries } = yamlEntries(text)
  const keys = keysIn(entries)
  const wanted = new Map(marks.map(({ key, isDone }) => [key, isDone]))
  const isWanted = (at: number): boolean => wanted.get(keys[at] as string) ?? entries[at]?.isDone === true
  const changed = entries.filter((entry, at) => entry.isDone !== isWanted(at))
  const edits = changed.flatMap(entry => yamlEdits(text, entry, entries))
  const marked = edited(text, edits)
  const expected = readYaml(text).items.map((item, at) => ({ ...item, isDone: isWanted(at) }))
  if (JSON.stringify(itemsOf(marked)) === JSON.stringify(expected)) return marked
  const titles = changed.map(({ title }) => `“${title}”`).join(', ')
  throw new Error(`${titles} cannot be marked without changing something else; give each a line “completed: false”`)
}

/** The list's own ids stay when titles are edited. */
function keysIn(entries: readonly YamlEntry[]): string[] {
  return keysOf(entries.map(({ id, title }) => (id === null ? [title] : ['id', id])))
}

/** Null for what is no YAML any more. */
function itemsOf(text: string): unknown {
  try {
    return readYaml(text).items
  } catch {
    return null // An odd spelling that our edit has broken: it is not written.
  }
}

function edited(text: string, edits: readonly { from: number; to: number; text: string }[]): string {
  const parts: string[] = []
  let end = 0
  for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
    parts.push(text.slice(end, edit.from), edit.text)
    end = edit.to
  }
  return parts.join('') + text.slice(end)
}
