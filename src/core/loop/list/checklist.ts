import { type ItemMark, type ListItem, type TaskList, itemKeys, limitObjections } from './task-list.ts'
import { EdgeLimit, resolveDependencies } from './dependencies.ts'
import { type OutlineNode, parseOutline } from '../../../lib/markdown/outline.ts'

/** Returns the tasks of a Markdown text: each box without boxes below it. */
export function readChecklist(text: string): TaskList {
  const { leaves, keys, empty } = parseChecklist(text)
  const follows = precedingItems(leaves)
  const placed = leaves.map((leaf, at) => ({ ...leaf, id: null, follows: follows[at] ?? [] }))
  const { after, objections } = resolveDependencies(
    placed.map(leaf => ({ ...leaf, title: leaf.bare, path: leaf.barePath })),
  )
  const items: ListItem[] = leaves.map(({ node, path }, at) => ({
    key: keys[at] as string,
    label: String(at + 1),
    title: node.title,
    path,
    body: node.body,
    isDone: node.box?.isTicked === true,
    after: (after[at] ?? []).map(other => keys[other] as string),
  }))
  const boxless = empty.map(line => `line ${line} has a box without text: the loop ignores it`)
  return { items, objections: limitObjections([...boxless, ...objections]) }
}

/** Ticks and unticks boxes in the text. Ticks a parent box when all boxes below it have ticks. */
export function markChecklist(text: string, marks: readonly ItemMark[]): string {
  const { leaves, keys, boxes } = parseChecklist(text)
  const wanted = new Map(marks.map(({ key, isDone }) => [key, isDone]))
  const ticks = new Map(leaves.map(({ node }, at) => [node, wanted.get(keys[at] as string) ?? isTicked(node)]))
  const touched = new Set(leaves.filter((_, at) => wanted.has(keys[at] as string)).flatMap(({ chain }) => chain))
  for (const parent of touched) if (parent.box !== null && !ticks.has(parent)) ticks.set(parent, true)
  for (const { node, chain } of leaves) {
    if (ticks.get(node) === false) for (const parent of chain) if (touched.has(parent)) ticks.set(parent, false)
  }
  const changes = boxes.filter(node => ticks.has(node) && ticks.get(node) !== isTicked(node))
  return replaceCharacters(
    text,
    changes.map(node => ({ at: node.box?.at ?? 0, character: ticks.get(node) === true ? 'x' : ' ' })),
  )
}

interface LeafItem extends OrderNotes {
  readonly node: OutlineNode
  /** The nodes above it, outermost first. */
  readonly chain: readonly OutlineNode[]
  readonly path: readonly string[]
  readonly barePath: readonly string[]
}

function parseChecklist(text: string) {
  const nodes = parseOutline(text)
  const boxes = nodes.filter(({ box, title }) => box !== null && title !== '')
  const parents = new Set<OutlineNode>()
  for (const { parent } of boxes)
    for (let node = parent; node !== null && !parents.has(node); node = node.parent) parents.add(node)
  const notes = new Map(nodes.map(node => [node, parseOrderNotes(node.title, node.comments)]))
  const leaves = boxes.filter(node => !parents.has(node)).map(node => leafItem(node, notes))
  const keys = itemKeys(leaves.map(({ bare }) => [bare]))
  const empty = nodes.filter(({ box, title }) => box === null && /^\[[ xX]\]$/.test(title)).map(({ line }) => line)
  return { boxes, leaves, keys, empty }
}

/** A statement about a parent or a heading applies to all items below; the nearest group counts. */
function leafItem(node: OutlineNode, known: ReadonlyMap<OutlineNode, OrderNotes>): LeafItem {
  const chain = ancestorsOf(node)
  const notes = [...chain, node].flatMap(one => known.get(one) ?? [])
  return {
    node,
    chain,
    path: chain.map(({ title }) => title).filter(Boolean),
    barePath: notes.slice(0, -1).flatMap(({ bare }) => bare || []),
    bare: notes.at(-1)?.bare ?? node.title,
    names: notes.flatMap(({ names }) => names),
    group: notes.findLast(({ group }) => group !== null)?.group ?? null,
  }
}

function ancestorsOf({ parent }: OutlineNode): OutlineNode[] {
  const chain: OutlineNode[] = []
  for (let node = parent; node !== null; node = node.parent) chain.push(node)
  return chain.reverse()
}

/** In a numbered list, all tasks of one item follow all tasks of the item before it. */
function precedingItems(leaves: readonly LeafItem[]): number[][] {
  const lists = new Map<number, { item: OutlineNode; now: number[]; before: number[] }>()
  const limit = new EdgeLimit()
  return leaves.map(({ node, chain }, at) =>
    [...chain, node].flatMap(item => {
      if (item.numbered === null) return []
      const known = lists.get(item.numbered)
      if (known?.item === item) known.now.push(at)
      else lists.set(item.numbered, { item, now: [at], before: known?.now ?? [] })
      return limit.take(lists.get(item.numbered)?.before ?? [])
    }),
  )
}

function isTicked({ box }: OutlineNode): boolean {
  return box?.isTicked === true
}

/** Replaces single characters, in the order of the text. */
function replaceCharacters(text: string, changes: readonly { at: number; character: string }[]): string {
  const parts: string[] = []
  let end = 0
  for (const { at, character } of changes) {
    parts.push(text.slice(end, at), character)
    end = at + 1
  }
  return parts.join('') + text.slice(end)
}

/** The statements of an item's line about its order: `(after 2, 3)`, `<!-- after: "title" -->`, `<!-- group: 2 -->`. */
export interface OrderNotes {
  /** The title without its order note. */
  readonly bare: string
  readonly names: readonly string[]
  readonly group: number | null
}

const AFTER_NOTE = /\((?:after|depends on)(?=[\s:#"“])((?:"[^"]*"|“[^”]*”|[^()"“])*)\)[\s.]*$/i

/** Characters of a note; nobody writes a longer one, and the regular expressions take quadratic time. */
const MAX_NOTE_LENGTH = 2_000

export function parseOrderNotes(title: string, all: readonly string[]): OrderNotes {
  const comments = all.filter(({ length }) => length <= MAX_NOTE_LENGTH)
  const begin = Math.max(0, title.length - MAX_NOTE_LENGTH)
  const note = AFTER_NOTE.exec(title.slice(begin))
  const names = comments.flatMap(comment => parseNames(/^(?:after|depends on)\s*:(.*)$/is.exec(comment)?.[1] ?? ''))
  const groups = comments.flatMap(comment => /^(?:parallel[ _])?group\s*:\s*(\d{1,9})$/i.exec(comment)?.[1] ?? [])
  return {
    bare: note === null ? title : title.slice(0, begin + note.index).trim() || title,
    names: [...parseNames((note?.[1] ?? '').trimStart().replace(/^:/, '')), ...names],
    group: groups[0] === undefined ? null : Number(groups[0]),
  }
}

/** Splits names at commas; a quoted part is one name, whatever it contains. */
function parseNames(text: string): string[] {
  const parts = text.match(/(?:"[^"]*"|“[^”]*”|[^,;"“])+/g) ?? []
  return parts
    .flatMap(part => (/^[\s\d#]+(?:(?:and|&)[\s\d#]+)+$/i.test(part) ? part.split(/and|&/i) : [part]))
    .map(part => part.trim().replace(/^(?:and|&)\s+/i, ''))
    .map(part => /^["“](.*)["”]$/s.exec(part)?.[1]?.trim() ?? part)
    .filter(part => part !== '')
}
