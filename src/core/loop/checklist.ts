import { notesOf, type Notes } from './checklist-notes.ts'
import { firstObjections, type Item, type ItemList, type Mark } from './item.ts'
import { keysOf } from './item-keys.ts'
import { EdgeLimit, orderOf } from './order.ts'
import { outline, type Outlined } from './outline.ts'

/** The tasks of a Markdown text: each box that has no boxes below it. */
export function readChecklist(text: string): ItemList {
  const { leaves, keys, empty } = checklist(text)
  const follows = followed(leaves)
  const placed = leaves.map((leaf, at) => ({ ...leaf, id: null, follows: follows[at] ?? [] }))
  const { after, objections } = orderOf(placed.map(leaf => ({ ...leaf, title: leaf.bare, path: leaf.barePath })))
  const items: Item[] = leaves.map(({ node, path }, at) => ({
    key: keys[at] as string,
    label: String(at + 1),
    title: node.title,
    path,
    body: node.body,
    isDone: node.box?.isTicked === true,
    after: (after[at] ?? []).map(other => keys[other] as string),
  }))
  const boxless = empty.map(line => `line ${line} has a box without text: the loop ignores it`)
  return { items, objections: firstObjections([...boxless, ...objections]) }
}

/** The same text with boxes ticked and unticked. One that has boxes below it is ticked when all of these are. */
export function markChecklist(text: string, marks: readonly Mark[]): string {
  const { leaves, keys, boxes } = checklist(text)
  const wanted = new Map(marks.map(({ key, isDone }) => [key, isDone]))
  const ticks = new Map(leaves.map(({ node }, at) => [node, wanted.get(keys[at] as string) ?? isTicked(node)]))
  const touched = new Set(leaves.filter((_, at) => wanted.has(keys[at] as string)).flatMap(({ chain }) => chain))
  for (const parent of touched) if (parent.box !== null && !ticks.has(parent)) ticks.set(parent, true)
  for (const { node, chain } of leaves) {
    if (ticks.get(node) === false) for (const parent of chain) if (touched.has(parent)) ticks.set(parent, false)
  }
  const changes = boxes.filter(node => ticks.has(node) && ticks.get(node) !== isTicked(node))
  return splice(
    text,
    changes.map(node => ({ at: node.box?.at ?? 0, character: ticks.get(node) === true ? 'x' : ' ' })),
  )
}

interface Leaf extends Notes {
  readonly node: Outlined
  /** What it stands in, outermost first. */
  readonly chain: readonly Outlined[]
  readonly path: readonly string[]
  readonly barePath: readonly string[]
}

function checklist(text: string) {
  const nodes = outline(text)
  const boxes = nodes.filter(({ box, title }) => box !== null && title !== '')
  const parents = new Set<Outlined>()
  for (const { parent } of boxes)
    for (let node = parent; node !== null && !parents.has(node); node = node.parent) parents.add(node)
  const notes = new Map(nodes.map(node => [node, notesOf(node.title, node.comments)]))
  const leaves = boxes.filter(node => !parents.has(node)).map(node => leafOf(node, notes))
  const keys = keysOf(leaves.map(({ bare }) => [bare]))
  const empty = nodes.filter(({ box, title }) => box === null && /^\[[ xX]\]$/.test(title)).map(({ line }) => line)
  return { boxes, leaves, keys, empty }
}

/** What is said about a parent or a heading holds for all below; the nearest group counts. */
function leafOf(node: Outlined, known: ReadonlyMap<Outlined, Notes>): Leaf {
  const chain = chainOf(node)
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

function chainOf({ parent }: Outlined): Outlined[] {
  const chain: Outlined[] = []
  for (let node = parent; node !== null; node = node.parent) chain.push(node)
  return chain.reverse()
}

/** In a list with numbers, all tasks of one item come after all of the one before it. */
function followed(leaves: readonly Leaf[]): number[][] {
  const lists = new Map<number, { item: Outlined; now: number[]; before: number[] }>()
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

function isTicked({ box }: Outlined): boolean {
  return box?.isTicked === true
}

/** Puts characters in the place of others, in the order of the text. */
function splice(text: string, changes: readonly { at: number; character: string }[]): string {
  const parts: string[] = []
  let end = 0
  for (const { at, character } of changes) {
    parts.push(text.slice(end, at), character)
    end = at + 1
  }
  return parts.join('') + text.slice(end)
}
