import { isNode, isScalar, type Pair } from 'yaml'
import { DONE_FIELDS, fieldOf, isDoneValue, TITLE_FIELDS, type YamlEntry } from './yaml-entries.ts'

export interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** What people write for yes and no. */
const PAIRS = [
  ['true', 'false'],
  ['yes', 'no'],
  ['on', 'off'],
] as const

/** What turns an entry that is done into one that is not, and the other way round. All else stays as it is. */
export function yamlEdits(text: string, entry: YamlEntry, all: readonly YamlEntry[]): Edit[] {
  const isDone = !entry.isDone
  const pairs = DONE_FIELDS.flatMap(name => fieldOf(entry.map, [name]) ?? [])
  if (pairs.length === 0) return [addition(text, entry)]
  const wrong = pairs.filter(pair => isDoneValue(valueOf(pair)) !== isDone)
  return wrong.map(pair => change(text, pair, isDone, all))
}

function change(text: string, pair: Pair, isDone: boolean, all: readonly YamlEntry[]): Edit {
  const isStatus = isScalar(pair.key) && pair.key.value === 'status'
  const [from, to] = isNode(pair.value) ? (pair.value.range ?? endOfKey(pair)) : endOfKey(pair)
  const old = text.slice(from, to)
  if (old === '') return { from, to, text: isStatus ? ` ${statusWord(isDone, all)}` : ` ${isDone}` }
  const quote = /^(["'])[\s\S]*\1$/.exec(old)?.[1] ?? ''
  const word = isStatus ? statusWord(isDone, all) : likewise(old.slice(quote.length, old.length - quote.length), isDone)
  return { from, to, text: quote + word + quote }
}

/** yaml 2.9: in `{done}` there is neither a colon nor a value. */
function endOfKey({ key }: Pair): [number, number] {
  const end = isNode(key) ? (key.range?.[1] ?? 0) : 0
  return [end, end]
}

/** The word that the list has for it elsewhere. */
function statusWord(isDone: boolean, all: readonly YamlEntry[]): string {
  const words = all.map(({ map }) => valueOf(fieldOf(map, ['status'])))
  const known = words.find(word => typeof word === 'string' && /^\w+$/.test(word) && isDoneValue(word) === isDone)
  return typeof known === 'string' ? known : isDone ? 'done' : 'pending'
}

/** The other of the pair, in the same case: FALSE becomes TRUE, and no becomes yes. */
function likewise(old: string, isDone: boolean): string {
  const [yes, no] = PAIRS.find(pair => pair.some(word => word === old.toLowerCase())) ?? PAIRS[0]
  const word = isDone ? yes : no
  if (/^[A-Z]{2,}$/.test(old)) return word.toUpperCase()
  return /^[A-Z]/.test(old) ? word[0]?.toUpperCase() + word.slice(1) : word
}

/** A field of its own: beside the title, on a line of its own after it, or before all others where it has several lines. */
function addition(text: string, { map }: YamlEntry): Edit {
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
