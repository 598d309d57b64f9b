import type { ItemList } from '../core/loop/item.ts'
import type { Desk } from './gear.ts'

/** The list as it is now. A tracker tells only of what is open: whatever it told of before and tells of no more is done there. */
export async function readList({ gear, loop, ending }: Pick<Desk, 'gear' | 'loop' | 'ending'>): Promise<ItemList> {
  const { source, self } = gear
  const list = await source.read(self.cwd, ending)
  if (source.kind !== 'beads') return list
  const open = new Set(list.items.map(({ key }) => key))
  const closed = loop().tasks.filter(({ item, stand }) => !open.has(item.key) && stand.name !== 'dropped')
  return { ...list, items: [...list.items, ...closed.map(({ item }) => ({ ...item, isDone: true }))] }
}
