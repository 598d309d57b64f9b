import v8 from 'node:v8'
import vm from 'node:vm'

/**
 * V8 offers an expression with a limit of backtracks only with this flag. The flag stays on, because V8 compiles at any
 * time.
 */
v8.setFlagsFromString('--allow-natives-syntax')
const withLimit = vm.runInThisContext(
  '(source, flags, limit) => %NewRegExpWithBacktrackLimit(source, flags, limit)',
) as (source: string, flags: string, limit: number) => RegExp

const LEAST = 64
/** Factor by which the search increases the limit. */
const GROWTH = 1.5
const MOST = 2 ** 30

const known = new Map<string, RegExp>()

type Exec = (this: RegExp, text: string) => unknown

function usualExec(this: RegExp, text: string): unknown {
  return this.exec(text)
}

/** Returns the number of backtracks of an expression from a position on, up to 50 % too high. */
export function backtracksOf(expression: RegExp, text: string, from: number, exec: Exec): number {
  let limit = LEAST
  while (limit < MOST && takesMoreThan(limit, expression, text, from, exec)) limit = Math.ceil(limit * GROWTH)
  return limit
}

export function takesMoreThan(
  limit: number,
  { source, flags }: RegExp,
  text: string,
  from = 0,
  exec: Exec = usualExec,
): boolean {
  const key = `${limit} ${flags} ${source}`
  const limited = known.get(key) ?? withLimit(searching(source, flags), `${flags.replace(/[dgy]/g, '')}y`, limit)
  known.set(key, limited)
  limited.lastIndex = from
  return Reflect.apply(exec, limited, [text]) === null
}

/**
 * Returns the same search as an expression that always matches, if only the empty string: null then means that it
 * reached the limit.
 */
function searching(source: string, flags: string): string {
  const isHere = flags.includes('y') || (source.startsWith('^') && !flags.includes('m'))
  return `${isHere ? '' : '[^]*?'}(?:${counted(source)})|()`
}

export const GROUP = /\((?:\?(?:<(?![=!])[^>]*>|<?[=!]|:))?/y
export const QUANTIFIER = /[*+?]\??|\{\d+(?:,\d*)?\}\??/y
export const ATOM =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|k<[^>]*>|c[A-Za-z]|\d+|[^])|\[(?:\\[^]|[^\]\\])*\]|[^]/y

/**
 * V8 counts no backtracks within a run of single characters such as `a*`. A group around each repeated part changes
 * that. The groups get names, because their numbers change.
 */
function counted(source: string): string {
  const open: number[] = []
  let [made, atom, groups] = ['', 0, 0]
  for (let at = 0; at < source.length; ) {
    const group = pieceAt(GROUP, source, at)
    const quantifier = pieceAt(QUANTIFIER, source, at)
    const text = group || quantifier || pieceAt(ATOM, source, at)
    at += text.length
    if (group !== '') {
      open.push(made.length)
      made += group === '(' ? `(?<group${++groups}>` : group
    } else if (quantifier !== '') {
      made = `${made.slice(0, atom)}(${made.slice(atom)})${quantifier}`
    } else {
      atom = text === ')' ? (open.pop() ?? 0) : made.length
      made += /^\\[1-9]/.test(text) ? `\\k<group${text.slice(1)}>` : text
    }
  }
  return made
}

/** Returns the part of an expression's source that begins here and matches `kind`; '' if there is none. */
export function pieceAt(kind: RegExp, source: string, at: number): string {
  kind.lastIndex = at
  return kind.exec(source)?.[0] ?? ''
}
