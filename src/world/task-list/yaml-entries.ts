import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { Node, Pair, YAMLMap } from 'yaml'
import { toWellFormed } from '../../lib/text/lossless-utf8.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { errorMessage } from '../../lib/errors.ts'

/** A task of a YAML file, with its node. */
export interface YamlEntry {
  readonly id: string | null
  readonly title: string
  readonly body: string
  readonly isDone: boolean
  readonly group: number | null
  readonly after: readonly string[]
  readonly map: YAMLMap
}

export interface YamlTasks {
  readonly entries: readonly YamlEntry[]
  readonly objections: readonly string[]
}

/** The accepted names of an entry's fields. */
const FIELDS = {
  title: ['title', 'name', 'task'],
  body: ['description', 'body'],
  group: ['parallel_group', 'group'],
  after: ['depends_on', 'after'],
  id: ['id'],
} as const

/** Fields that say if a task is done: the first two by yes or no, the last by a word. */
export const DONE_FIELDS = ['completed', 'done', 'status'] as const
const DONE_WORDS = /^(?:true|yes|on|done|completed?|closed)$/i

/**
 * Returns the tasks of a YAML file: a list, or a list under `tasks`. Throws a sentence with the position of an error.
 */
export function yamlEntries(text: string): YamlTasks {
  const lines = new LineCounter()
  // The library compares each key with all others, and searches the text for the position of each error: both take
  // quadratic time.
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const [error] = doc.errors
  if (error !== undefined) throw new Error(`${formatPosition(lines, error.pos[0])}: ${stripPosition(error.message)}`)
  const contents = doc.contents as Node | null
  if (isMap(contents)) assertUnique(contents, lines)
  const list = isMap(contents) ? contents.get('tasks', true) : contents
  if (!isSeq(list)) return { entries: [], objections: [] }
  const objections: string[] = []
  const entries = list.items.flatMap(item => {
    if (isMap(item)) assertUnique(item, lines)
    const entry = isMap(item) ? withPosition(lines, item, () => entryOf(doc, item)) : null
    if (entry === null) objections.push(describeProblem(item, lines))
    return entry ?? []
  })
  return { entries, objections }
}

function assertUnique(map: YAMLMap, lines: LineCounter): void {
  const keys = new Set<unknown>()
  for (const { key } of map.items) {
    if (!isScalar(key)) continue
    if (keys.has(key.value)) throw new Error(`${formatPosition(lines, key.range?.[0] ?? 0)}: Map keys must be unique`)
    keys.add(key.value)
  }
}

/** Returns the field with the first of these names. */
export function fieldOf(map: YAMLMap, names: readonly string[]): Pair | undefined {
  const named = (name: string) => map.items.find(({ key }) => isScalar(key) && key.value === name)
  return names.map(named).find(pair => pair !== undefined)
}

export const TITLE_FIELDS = FIELDS.title

export function isDoneValue(value: unknown): boolean {
  return DONE_WORDS.test(String(value))
}

function entryOf(doc: Document, map: YAMLMap): YamlEntry | null {
  const valueOf = (names: readonly string[]): unknown => {
    const value = fieldOf(map, names)?.value
    return isNode(value) ? value.toJS(doc) : value
  }
  const title = toOneLine(scalarText(valueOf(FIELDS.title)))
  if (title === '') return null
  const after = valueOf(FIELDS.after)
  const id = scalarText(valueOf(FIELDS.id))
  const group = Number(scalarText(valueOf(FIELDS.group)) || Number.NaN)
  return {
    title,
    id: id === '' ? null : id,
    body: scalarText(valueOf(FIELDS.body)).trim(),
    isDone: DONE_FIELDS.some(name => isDoneValue(valueOf([name]))),
    group: Number.isFinite(group) ? group : null,
    after: (Array.isArray(after) ? after : [after]).map(scalarText).filter(Boolean),
    map,
  }
}

/** yaml 2.9: the library detects an undefined alias, or one that expands too far, only when it resolves the alias. */
function withPosition<T>(lines: LineCounter, { range }: Node, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new Error(`${formatPosition(lines, range?.[0] ?? 0)}: ${errorMessage(cause)}`, { cause })
  }
}

/** Returns numbers and words as text; an empty text for lists and maps. */
function scalarText(value: unknown): string {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
  return isPlain ? toWellFormed(String(value)) : ''
}

function describeProblem(item: unknown, lines: LineCounter): string {
  const place = formatPosition(lines, isNode(item) ? (item.range?.[0] ?? 0) : 0)
  if (isAlias(item)) return `${place}: an alias is no task of its own`
  return `${place}: an entry without a title is no task; write “- title: …”`
}

function formatPosition(lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset)
  return `line ${line}, column ${col}`
}

/** yaml 2.9: the position, which we add ourselves, and the line follow the message. */
function stripPosition(message: string): string {
  return toOneLine(message.replace(/ at line \d+, column \d+:[\s\S]*$/, ''))
}
