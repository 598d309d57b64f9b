/** The comment marks of a language, and the quotes of its long strings. */
export interface CommentSyntax {
  readonly line: readonly string[]
  readonly block: readonly (readonly [open: string, close: string])[]
  /** Quotes of strings over several lines. Their text is no code, so the function strips it like a comment. */
  readonly long: readonly string[]
  readonly hasRegex: boolean
}

export const C_LIKE: CommentSyntax = { line: ['//'], block: [['/*', '*/']], long: ['"""'], hasRegex: false }
export const SCRIPT: CommentSyntax = { line: ['//'], block: [['/*', '*/']], long: ['`'], hasRegex: true }
export const HASH: CommentSyntax = { line: ['#'], block: [], long: ['"""', "'''"], hasRegex: false }

/**
 * Returns the code of a file: blanks of the same length replace comments and strings over several lines. So a test that
 * is commented out, or wrapped in a string, does not count as one that runs. Short strings stay: they are the titles of
 * tests.
 */
export function stripComments(text: string, notation: CommentSyntax): string {
  const pieces: string[] = []
  // Only the end of the code decides what a character means. A look at all of it each time would take quadratic time.
  let end = ''
  for (let at = 0; at < text.length; ) {
    const [length, isCode] = nextToken(text, at, end, notation)
    const piece = text.slice(at, at + length)
    const code = isCode ? piece : piece.replaceAll(/[^\n]/g, ' ')
    pieces.push(code)
    end = (end + code).slice(-LOOKBEHIND)
    at += length
  }
  return pieces.join('')
}

const LOOKBEHIND = 12

type Token = readonly [length: number, isCode: boolean]

function nextToken(text: string, at: number, before: string, { line, block, long, hasRegex }: CommentSyntax): Token {
  const plain = plainLength(text, at)
  if (plain > 0) return [plain, true]
  const mark = line.find(word => text.startsWith(word, at))
  if (mark !== undefined && !(mark === '#' && /\S$/.test(before))) return [endOfLine(text, at) - at, false]
  const pair = block.find(([open]) => text.startsWith(open, at))
  if (pair !== undefined) return [indexAfter(text, pair[1], at + pair[0].length) - at, false]
  const quote = long.find(word => text.startsWith(word, at))
  if (quote !== undefined) {
    const end = indexAfter(text, quote, at + quote.length)
    return [end - at, !text.slice(at, end).includes('\n')]
  }
  const char = text[at]
  if (char === '"' || char === "'") return [endOfString(text, at, char) - at, true]
  if (hasRegex && char === '/' && /(?:^|[(,=:[!&|?{};\n]|\breturn)\s*$/.test(before))
    return [endOfString(text, at, '/') - at, true]
  return [char === '\\' ? 2 : 1, true]
}

/** Returns the number of characters that begin neither a comment nor a string. */
function plainLength(text: string, at: number): number {
  PLAIN.lastIndex = at
  return PLAIN.exec(text)?.[0].length ?? 0
}

const PLAIN = /[\w \t\n.,;:=()[\]{}<>+!?&|$@-]{1,4096}/y

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

function indexAfter(text: string, word: string, from: number): number {
  for (let end = text.indexOf(word, from); end !== -1; end = text.indexOf(word, end + 1))
    if (text[end - 1] !== '\\') return end + word.length
  return text.length
}

/** Returns the position after the closing mark, or the end of the line if there is none. */
function endOfString(text: string, at: number, mark: string): number {
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === '\\') end++
    else if (text[end] === mark) return end + 1
    else if (text[end] === '\n') return end
  }
  return text.length
}
