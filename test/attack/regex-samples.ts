import { ATOM, GROUP, pieceAt, QUANTIFIER } from './regex-backtracks.ts'

/**
 * Generates texts that an expression matches in part, from the expression itself. The same seed gives the same texts.
 */
export function samplesOf(source: string, flags: string, count: number): string[] {
  const { root } = parse(source)
  const dice = diceOf(source.length)
  return Array.from({ length: count }, () => sample(root, flags, dice))
}

type Node =
  | { readonly kind: 'text'; readonly atom: string }
  | { readonly kind: 'group'; readonly ways: Node[][]; readonly isLook: boolean }
  | { readonly kind: 'repeated'; readonly what: Node; readonly least: number; readonly most: number }

function parse(source: string, at = 0): { root: Node; end: number } {
  const head = at === 0 ? '' : pieceAt(GROUP, source, at - 1)
  const ways: Node[][] = [[]]
  let place = at === 0 ? 0 : at - 1 + head.length
  while (place < source.length && source[place] !== ')') {
    const way = ways.at(-1) ?? []
    const quantifier = pieceAt(QUANTIFIER, source, place)
    if (source[place] === '|') {
      ways.push([])
      place++
    } else if (source[place] === '(') {
      const { root, end } = parse(source, place + 1)
      way.push(root)
      place = end + 1
    } else if (quantifier !== '') {
      const what = way.pop()
      if (what !== undefined) way.push({ kind: 'repeated', what, ...boundsOf(quantifier) })
      place += quantifier.length
    } else {
      const atom = pieceAt(ATOM, source, place)
      way.push({ kind: 'text', atom })
      place += atom.length
    }
  }
  return { root: { kind: 'group', ways, isLook: /[=!]$/.test(head) }, end: place }
}

function boundsOf(quantifier: string): { least: number; most: number } {
  const [, from, comma, to] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? []
  const least = from === undefined ? Number(quantifier.startsWith('+')) : Number(from)
  const limit =
    from === undefined ? (quantifier.startsWith('?') ? 1 : 3) : comma === '' ? least : Number(to || least + 3)
  return { least, most: Math.min(limit, least + 3) }
}

function sample(node: Node, flags: string, dice: (sides: number) => number): string {
  if (node.kind === 'text') return letterOf(node.atom, flags, dice)
  if (node.kind === 'repeated') {
    const times = node.least + dice(node.most - node.least + 1)
    return Array.from({ length: times }, () => sample(node.what, flags, dice)).join('')
  }
  if (node.isLook) return ''
  return (node.ways[dice(node.ways.length)] ?? []).map(part => sample(part, flags, dice)).join('')
}

const LETTERS = Array.from('aAz0 \t\n\r_-.:;,=/\\"\'`<>()[]{}|*+#$%&@!~^?\u001b\u0007é修\u2028xXkKeEsSfF19')

function letterOf(atom: string, flags: string, dice: (sides: number) => number): string {
  if (/^\\[bB1-9k]/.test(atom) || atom === '^' || atom === '$') return ''
  const fit = LETTERS.filter(letter => new RegExp(`^(?:${atom})$`, flags.replace(/[gmy]/g, '')).test(letter))
  return fit[dice(fit.length)] ?? (atom.length === 1 ? atom : '')
}

function diceOf(seed: number): (sides: number) => number {
  let state = seed
  return sides => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return sides === 0 ? 0 : (state >> 8) % sides
  }
}
