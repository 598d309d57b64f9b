import fs from 'node:fs'
import path from 'node:path'
import type { ItemList } from '../core/loop/item.ts'
import type { LoopTask } from '../core/loop/loop.ts'
import { commandLine } from '../lib/quote.ts'
import { Trouble, wordsOf } from '../lib/trouble.ts'
import { loopFolder } from '../world/os/loop-file.ts'
import { bringBack, keepCopy } from '../world/tasks/list-copy.ts'
import type { Desk, Gear, LoopView } from './gear.ts'

type ListDesk = LoopView & Pick<Desk, 'ending'>

/** The list as it is now. A tracker tells only of what is open: whatever it told of before and tells of no more is done there. */
export async function readList({ gear, loop, ending }: ListDesk): Promise<ItemList> {
  const { source, self } = gear
  const list = await source.read(self.cwd, ending)
  if (source.kind !== 'beads') {
    if (list.items.length > 0 && source.file !== null) keepCopy(self.cwd, source.file, copyOf(gear))
    return list
  }
  const open = new Set(list.items.map(({ key }) => key))
  const closed = loop().tasks.filter(({ item, stand }) => !open.has(item.key) && stand.name !== 'dropped')
  return { ...list, items: [...list.items, ...closed.map(({ item }) => ({ ...item, isDone: true }))] }
}

/** What an agent has left of the list, and what a person should know of that. */
export interface ListLeft {
  /** Null where it cannot be read: that is no fault of the work. */
  readonly list: ItemList | null
  readonly note: string | null
}

/** Reads the list after an agent has worked beside it. A list that it deleted is brought back as it was. */
export async function readListLeft(desk: ListDesk, { item }: LoopTask): Promise<ListLeft> {
  const { gear } = desk
  const { source } = gear
  const who = `the agent of task ${item.label}`
  try {
    const isBack = bringListBack(gear)
    return { list: await readList(desk), note: isBack ? `${who} deleted ${source.file}: it is back as it was` : null }
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    return { list: null, note: `${wordsOf(cause)}, since ${who} worked here${wayBack(gear)}` }
  }
}

/** Puts a list that is gone back as the loop last saw it; false where it is there, or was never seen. */
export function bringListBack(gear: Gear): boolean {
  const { source, self } = gear
  return (
    source.file !== null &&
    isMissing(path.resolve(self.cwd, source.file)) &&
    bringBack(self.cwd, source.file, copyOf(gear))
  )
}

/** How a person gets the list back as the loop last saw it; empty where the loop has not seen it. */
export function wayBack(gear: Gear): string {
  const { source } = gear
  const copy = copyOf(gear)
  if (source.file === null || !fs.existsSync(copy)) return ''
  return `; \`${commandLine(['cp', copy, source.file])}\` brings it back as the loop last saw it`
}

function copyOf({ home, self }: Gear): string {
  return path.join(loopFolder(home, self.id), 'list')
}

function isMissing(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) === undefined
}
