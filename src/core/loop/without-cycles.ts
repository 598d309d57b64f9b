/**
 * Takes out of each circle the step that closes it, and tells which one that was. The order is that of the list: what comes
 * earlier is believed first.
 */
export function withoutCycles(
  after: readonly (readonly number[])[],
  dropped: (from: number, to: number) => void,
): number[][] {
  const kept: number[][] = after.map(() => [])
  const states: ('open' | 'done' | undefined)[] = []
  for (const root of after.keys()) {
    const way = states[root] === undefined ? [{ item: root, next: 0 }] : []
    while (way.length > 0) {
      const step = way.at(-1) as { item: number; next: number }
      states[step.item] = 'open'
      const to = after[step.item]?.[step.next++]
      if (to === undefined) {
        states[step.item] = 'done'
        way.pop()
      } else if (states[to] === 'open') dropped(step.item, to)
      else {
        kept[step.item]?.push(to)
        if (states[to] === undefined) way.push({ item: to, next: 0 })
      }
    }
  }
  return kept
}
