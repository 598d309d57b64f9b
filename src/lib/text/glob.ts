/**
 * Returns true if a path matches a pattern: `*` and `?` within a name, `**` over folders, `[ab]`, `{a,b}`. A pattern
 * that names a folder matches all its content. Foreign makefiles contain patterns, so the time grows only with the
 * lengths of path and pattern; a regular expression with many stars does not guarantee that.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  const plain = pattern.replace(/^\.\//, '').replace(/(?<!\/)\/+$/, '')
  if (plain === '' || plain === '.') return true
  const steps = compilePattern(plain)
  let places = followJumps(steps, [0])
  for (const character of path) {
    if (character === '/' && places.has(steps.length)) return true
    const reached: number[] = []
    for (const place of places) {
      const step = steps[place]
      if (step?.matches?.(character)) reached.push(step.isRepeated ? place : place + 1)
    }
    if (reached.length === 0) return false
    places = followJumps(steps, reached)
  }
  return places.has(steps.length)
}

/**
 * Returns a pattern that matches this path and its content, and nothing else. `?` replaces a character that no sentence
 * can show.
 */
export function literalGlob(path: string): string {
  return path.replaceAll(/[*?[{]/g, '[$&]').replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?')
}

/** A state of a compiled pattern. */
interface PatternStep {
  /** Accepts the characters that lead on from here. */
  readonly matches?: (character: string) => boolean
  /** The characters lead back to the same state. */
  readonly isRepeated?: boolean
  /** States that follow without a character. */
  readonly jumps?: readonly number[]
}

function followJumps(steps: readonly PatternStep[], places: readonly number[]): Set<number> {
  const all = new Set(places)
  for (const place of all) for (const next of steps[place]?.jumps ?? []) all.add(next)
  return all
}

const cache = new Map<string, readonly PatternStep[]>()

function compilePattern(pattern: string): readonly PatternStep[] {
  const found = cache.get(pattern) ?? parsePattern(pattern)
  cache.set(pattern, found)
  return found
}

const PIECES = /\*\*\/|\*\*|\*|\?|\{[^{}]*\}|\[[^\]/]{0,200}\]|./gsu
const any = (): boolean => true
const inName = (character: string): boolean => character !== '/'

function parsePattern(pattern: string): PatternStep[] {
  const steps: PatternStep[] = []
  for (const [piece] of pattern.matchAll(PIECES)) {
    const next = steps.length + 1
    if (piece === '**/') steps.push({ matches: any, isRepeated: true, jumps: [next, next + 1] }, only('/'))
    else if (piece === '**') steps.push({ matches: any, isRepeated: true, jumps: [next] })
    else if (piece === '*') steps.push({ matches: inName, isRepeated: true, jumps: [next] })
    else if (piece === '?') steps.push({ matches: inName })
    else if (piece.length > 2 && piece.startsWith('{'))
      steps.push(...oneOf(piece.slice(1, -1).split(','), steps.length))
    else if (piece.length > 2 && piece.startsWith('[')) steps.push({ matches: characterClass(piece) })
    else steps.push(...Array.from(piece, only))
  }
  return steps
}

function only(letter: string): PatternStep {
  return { matches: character => character === letter }
}

/** Compiles alternatives one after the other, each with a jump to its start and one from its end. */
function oneOf(words: readonly string[], at: number): PatternStep[] {
  const begins: number[] = []
  let end = at + 1
  for (const word of words) {
    begins.push(end)
    end += Array.from(word).length + 1
  }
  return [{ jumps: begins }, ...words.flatMap(word => [...Array.from(word, only), { jumps: [end] }])]
}

/** Compiles `[a-c]` and `[!a]`. An invalid class matches nothing. */
function characterClass(piece: string): (character: string) => boolean {
  try {
    const set = new RegExp(`^[${piece.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\')}]$`, 'su')
    return character => set.test(character)
  } catch {
    return () => false
  }
}
