import { truncateToWidth, displayWidth } from '../../lib/text/display-width.ts'

/**
 * Cuts names to a width in the middle, where they differ least. Different names stay different if the width allows it.
 */
export function shortNames(names: readonly string[], width: number): Map<string, string> {
  const short = new Map<string, string>()
  const all = [...new Set(names)]
  for (const group of groupsOf(all, name => withoutMiddle(name, width))) {
    const [only] = group
    if (group.length === 1 && only !== undefined) short.set(only, withoutMiddle(only, width))
    else for (const [name, text] of withoutBeginning(group, width)) short.set(name, text)
  }
  return short
}

/** The share of the width for the end: names made from the same words differ there. */
const END_PART = 0.4

function withoutMiddle(name: string, width: number): string {
  if (displayWidth(name) <= width) return name
  const end = Math.floor((width - 1) * END_PART)
  return `${name.slice(0, Math.max(0, width - 1 - end))}…${end === 0 ? '' : name.slice(-end)}`
}

/** Shows each name from the first difference on, because these names look alike without their middles. */
function withoutBeginning(names: readonly string[], width: number): Map<string, string> {
  const from = Math.max(0, commonStart(names) - 1)
  const text = (name: string): string => truncateToWidth(`…${name.slice(from)}`, width)
  const groups = groupsOf(names, text)
  return new Map(
    groups.flatMap(group => {
      const isAlike = group.length > 1 && group.length < names.length
      return isAlike ? [...withoutBeginning(group, width)] : group.map(name => [name, text(name)] as const)
    }),
  )
}

function commonStart(names: readonly string[]): number {
  const [first = '', ...others] = names
  let length = 0
  while (length < first.length && others.every(name => name[length] === first[length])) length++
  return length
}

function groupsOf(names: readonly string[], text: (name: string) => string): string[][] {
  const groups = new Map<string, string[]>()
  for (const name of names) groups.set(text(name), [...(groups.get(text(name)) ?? []), name])
  return [...groups.values()]
}
