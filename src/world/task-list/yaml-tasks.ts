import { type ItemMark, type TaskList, itemKeys, limitObjections } from '../../core/loop/list/task-list.ts'
import { resolveDependencies } from '../../core/loop/list/dependencies.ts'
import { DONE_FIELDS, TITLE_FIELDS, type YamlEntry, fieldOf, isDoneValue, yamlEntries } from './yaml-entries.ts'
import { type Pair, isNode, isScalar } from 'yaml'

/** Returns the tasks of a YAML file. Throws a sentence about an error. */
export function readYaml(text: string): TaskList {
  const { entries, objections } = yamlEntries(text)
  const keys = keysIn(entries)
  const order = resolveDependencies(entries.map(entry => ({ ...entry, path: [], follows: [], names: entry.after })))
  const items = entries.map(({ title, body, isDone }, at) => ({
    key: keys[at] as string,
    label: String(at + 1),
    title,
    path: [],
    body,
    isDone,
    after: (order.after[at] ?? []).map(other => keys[other] as string),
  }))
  return { items, objections: limitObjections([...objections, ...order.objections]) }
}

/** Returns the text with tasks marked. Throws if anything else would change. */
export function markYaml(text: string, marks: readonly ItemMark[]): string {
  const { entries } = yamlEntries(text)
  const keys = keysIn(entries)
  const wanted = new Map(marks.map(({ key, isDone }) => [key, isDone]))
  const isWanted = (at: number): boolean => wanted.get(keys[at] as string) ?? entries[at]?.isDone === true
  const changed = entries.filter((entry, at) => entry.isDone !== isWanted(at))
  const edits = changed.flatMap(entry => yamlEdits(text, entry, entries))
  const marked = applyEdits(text, edits)
  const expected = readYaml(text).items.map((item, at) => ({ ...item, isDone: isWanted(at) }))
  if (JSON.stringify(tryReadItems(marked)) === JSON.stringify(expected)) return marked
  const titles = changed.map(({ title }) => `“${title}”`).join(', ')
  throw new Error(`${titles} cannot be marked without changing something else; give each a line “completed: false”`)
}

/** Keys use the list's own ids, which stay the same when a title changes. */
function keysIn(entries: readonly YamlEntry[]): string[] {
  return itemKeys(entries.map(({ id, title }) => (id === null ? [title] : ['id', id])))
}

/** Returns null if the text is no valid YAML any more. */
function tryReadItems(text: string): unknown {
  try {
    return readYaml(text).items
  } catch {
    return null // Our edit has broken an unusual notation: the caller does not write it.
  }
}

function applyEdits(text: string, edits: readonly { from: number; to: number; text: string }[]): string {
  const parts: string[] = []
  let end = 0
  for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
    parts.push(text.slice(end, edit.from), edit.text)
    end = edit.to
  }
  return parts.join('') + text.slice(end)
}

export interface TextEdit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Words for yes and no. */
const BOOLEAN_WORDS = [
  ['true', 'false'],
  ['yes', 'no'],
  ['on', 'off'],
] as const

/** Returns the edits that invert the done state of an entry. All else stays unchanged. */
function yamlEdits(text: string, entry: YamlEntry, all: readonly YamlEntry[]): TextEdit[] {
  const isDone = !entry.isDone
  const pairs = DONE_FIELDS.flatMap(name => fieldOf(entry.map, [name]) ?? [])
  if (pairs.length === 0) return [addField(text, entry)]
  const wrong = pairs.filter(pair => isDoneValue(valueOf(pair)) !== isDone)
  return wrong.map(pair => changeField(text, pair, isDone, all))
}

function changeField(text: string, pair: Pair, isDone: boolean, all: readonly YamlEntry[]): TextEdit {
  const isStatus = isScalar(pair.key) && pair.key.value === 'status'
  const [from, to] = isNode(pair.value) ? (pair.value.range ?? endOfKey(pair)) : endOfKey(pair)
  const old = text.slice(from, to)
  if (old === '') return { from, to, text: isStatus ? ` ${statusWord(isDone, all)}` : ` ${isDone}` }
  const quote = /^(["'])[\s\S]*\1$/.exec(old)?.[1] ?? ''
  const word = isStatus
    ? statusWord(isDone, all)
    : matchCase(old.slice(quote.length, old.length - quote.length), isDone)
  return { from, to, text: quote + word + quote }
}

/** yaml 2.9: in `{done}` there is neither a colon nor a value. */
function endOfKey({ key }: Pair): [number, number] {
  const end = isNode(key) ? (key.range?.[1] ?? 0) : 0
  return [end, end]
}

/** Returns the word that other entries of the list use. */
function statusWord(isDone: boolean, all: readonly YamlEntry[]): string {
  const words = all.map(({ map }) => valueOf(fieldOf(map, ['status'])))
  const known = words.find(word => typeof word === 'string' && /^\w+$/.test(word) && isDoneValue(word) === isDone)
  return typeof known === 'string' ? known : isDone ? 'done' : 'pending'
}

/** Returns the other word of the pair in the same case: FALSE becomes TRUE, and no becomes yes. */
function matchCase(old: string, isDone: boolean): string {
  const [yes, no] = BOOLEAN_WORDS.find(pair => pair.some(word => word === old.toLowerCase())) ?? BOOLEAN_WORDS[0]
  const word = isDone ? yes : no
  if (/^[A-Z]{2,}$/.test(old)) return word.toUpperCase()
  return /^[A-Z]/.test(old) ? word[0]?.toUpperCase() + word.slice(1) : word
}

/**
 * Adds a field: beside the title in a flow map, on a line after the title, or before all fields if the title has
 * several lines.
 */
function addField(text: string, { map }: YamlEntry): TextEdit {
  const title = fieldOf(map, TITLE_FIELDS)
  const [keyStart = 0, keyEnd = 0] = isNode(title?.key) ? (title.key.range ?? []) : []
  const end = isNode(title?.value) ? (title.value.range?.[1] ?? keyEnd) : keyEnd
  if (map.flow === true) {
    const quote = /^["']/.exec(text.slice(keyStart))?.[0] ?? ''
    return { from: end, to: end, text: `, ${quote}completed${quote}: true` }
  }
  const first = map.items[0]?.key
  const start = isNode(first) ? (first.range?.[0] ?? keyStart) : keyStart
  const indent = ' '.repeat(columnAt(text, start))
  const isOneLine = !/[\r\n]/.test(text.slice(keyStart, end))
  if (!isOneLine) return { from: start, to: start, text: `completed: true${endOfLine(text)}${indent}` }
  const lineEnd = end + (/\r?\n|$/.exec(text.slice(end))?.index ?? 0)
  return { from: lineEnd, to: lineEnd, text: `${endOfLine(text)}${indent}completed: true` }
}

function columnAt(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

function endOfLine(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}

function valueOf(pair: Pair | undefined): unknown {
  return isScalar(pair?.value) ? pair.value.value : undefined
}
