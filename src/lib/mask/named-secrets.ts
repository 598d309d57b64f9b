import { findMatches, type Range } from './secret-pattern.ts'

const PASSWORD = 'pass(?:word|wd|phrase|code)|[_-]pass|[_-]pwd|secret'
const KEY = '(?:api|access|account|auth|encryption|master|private|secret|shared|signing)[_-]?key'
/** Any other key counts only in a shell assignment: `STRIPE_KEY=…`. */
const OTHER_KEY = '(?<=[a-z0-9])_key'
/** Matches a name, its closing quotes, the separator before the value, and the quote before the value. */
const NAME = new RegExp(
  String.raw`(?:(${PASSWORD})|${KEY}|token|credentials?|_auth|(${OTHER_KEY}))\\{0,3}["'\]]{0,2}([ \t]{0,4}(?:=>?|:=?)[ \t]{0,4}|[ \t]+)(\\{0,3}["'\x60])?`,
  'gi',
)
/** Matches a placeholder for a value that is elsewhere; it is no secret. */
const PLACEHOLDER = /[<{([*]|process\.|os\.|env\./y
/** A variable's name consists of words; a name with digits between its letters is none. */
const REFERENCE = /\$(?:[A-Z_][A-Z0-9_]*|[A-Za-z]+\d*(?:_[A-Za-z]*\d*)*)(?!\w)/y
/** The start of a value decides; the mask hides all of it. */
const IN_QUOTES = /[^"'`\\ \t\r\n]{1,200}/y
const PLAIN = /[\w+/=.~@#%^&*!:$-]{1,200}/y
/** A password may be a sentence, if its end is visible. */
const QUOTED_PASSWORD: Readonly<Record<string, RegExp>> = {
  '"': /[^"\\\r\n]{1,200}(?=\\{0,3}")/y,
  "'": /[^'\\\r\n]{1,200}(?=\\{0,3}')/y,
  '`': /[^`\\\r\n]{1,200}(?=\\{0,3}`)/y,
}
const MIN_LENGTH = 8
/** The length of a password that its name declares: `PASSWORD=hunter2`. */
const MIN_PASSWORD_LENGTH = 6
/** Words that often stand in the place of a password. */
const NO_PASSWORD =
  /^(?:changeme|disabled|enabled|null|optional|required|undefined|string|boolean)$|pass|pwd|secret|token/i
/** The longest distance from a name back to the start of its option, in characters. */
const OPTION_LENGTH = 60

/** The parts of these names, in the usual spellings. */
export const NAME_ANCHORS: readonly string[] = ['pass', 'pwd', 'secret', 'token', 'credential', 'key', '_auth'].flatMap(
  word => [word, word.toUpperCase(), `${word.charAt(0).toUpperCase()}${word.slice(1)}`],
)

/**
 * Finds values that only their names reveal: `password=…`, `"api_key": "…"`, `--token …`. A quoted value, or a value in
 * a shell assignment, needs less evidence than a bare word that may be a variable in code: the fewer signs there are,
 * the more random the value has to look.
 */
export function findNamedSecrets(line: string): Range[] {
  return findMatches(NAME, line, match => {
    const from = match.index + match[0].length
    const signs = assignmentSigns(match)
    const kind = valuePattern(match, line, from)
    const to = endOfMatch(kind, line, from)
    if (!isLiteralValue(line, from, to, signs) || !isLikelySecret(line.slice(from, to), signs)) return null
    let end = to
    for (let more = endOfMatch(kind, line, end); more > end; more = endOfMatch(kind, line, end)) end = more
    NAME.lastIndex = end
    return [from, end]
  })
}

function valuePattern({ 1: password, 4: quote }: RegExpExecArray, line: string, from: number): RegExp {
  if (quote === undefined) return PLAIN
  const sentence = password === undefined ? undefined : QUOTED_PASSWORD[quote.slice(-1)]
  return sentence !== undefined && endOfMatch(sentence, line, from) > from ? sentence : IN_QUOTES
}

function endOfMatch(kind: RegExp, line: string, from: number): number {
  kind.lastIndex = from
  return kind.test(line) ? kind.lastIndex : from
}

/** Returns true for a value itself, and false for a variable or a call that returns it. */
function isLiteralValue(line: string, from: number, to: number, { isPassword, isTight }: AssignmentSigns): boolean {
  const isGiven = isPassword && isTight
  if (to - from < (isPassword ? MIN_PASSWORD_LENGTH : MIN_LENGTH) || /[([]/.test(line.charAt(to))) return false
  if (line.charAt(from) === '$' && !(isGiven && endOfMatch(REFERENCE, line, from) === from)) return false
  PLACEHOLDER.lastIndex = from
  return !PLACEHOLDER.test(line)
}

interface AssignmentSigns {
  readonly isPassword: boolean
  /** The name means a key only as a variable. */
  readonly isOtherKey: boolean
  readonly isQuoted: boolean
  /** A sign separates the value from its name; otherwise it is the word after an option. */
  readonly isSet: boolean
  readonly isOption: boolean
  /** Nothing but that sign separates the value from its name. */
  readonly isTight: boolean
  /** The name is that of a shell variable. */
  readonly isVariable: boolean
}

function assignmentSigns(match: RegExpExecArray): AssignmentSigns {
  const { 0: whole, 1: password, 2: otherKey, 3: between = '', 4: quote, index, input } = match
  return {
    isPassword: password !== undefined,
    isOtherKey: otherKey !== undefined,
    isQuoted: quote !== undefined,
    isSet: /[=:]/.test(between),
    isOption: /(?:^|\s)--?[a-z-]*$/.test(input.slice(Math.max(0, index - OPTION_LENGTH), index)),
    isTight: !/[ \t]/.test(between),
    isVariable: between === '=' && whole === whole.toUpperCase(),
  }
}

function isLikelySecret(value: string, signs: AssignmentSigns): boolean {
  const hasDigit = /\d/.test(value)
  const isMixed = hasDigit && /[A-Za-z]/.test(value)
  const isLong = value.length >= MIN_LENGTH
  if (signs.isOtherKey) return signs.isVariable && !/^[~.]{0,2}\//.test(value)
  if (!signs.isSet) return signs.isOption && isMixed
  if (signs.isQuoted) return (signs.isPassword && isLong) || isMixed || (hasDigit && isLong)
  if (signs.isVariable) return isLong || isMixed
  if (signs.isPassword && signs.isTight) return isMixed || (isLong && !NO_PASSWORD.test(value))
  if (signs.isPassword || signs.isTight) return isMixed && isLong
  return value.length >= 12 && ((isMixed && /\d.*\d/.test(value)) || looksRandom(value))
}

/** Small letters, capital letters and digits alternate as in random text, and not as in a name made of words. */
function looksRandom(value: string): boolean {
  const kinds = value.replace(/[a-z]/g, 'a').replace(/[A-Z]/g, 'A').replace(/\d/g, '0')
  const changes = kinds.split('').filter((kind, i) => i > 0 && kind !== kinds[i - 1]).length
  return changes > value.length * 0.45
}
