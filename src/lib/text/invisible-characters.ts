let compiledPattern: RegExp | undefined

/**
 * Matches invisible characters, and characters that change how others look: controls, direction marks, zero-width
 * characters, tags, variation selectors, fillers, blanks that are no spaces, and characters that no font has. The first
 * use compiles the expression, because its classes take V8 two milliseconds.
 */
function invisiblePattern(): RegExp {
  compiledPattern ??= /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u
  return compiledPattern
}

/** Real scripts put up to this many marks on one letter; more of them cover the lines above and below. */
const MAX_COMBINING_MARKS = 3

/** The start of a text, as one line that hides nothing from a person. */
export interface Excerpt {
  readonly text: string
  /** The number of characters that the excerpt leaves out. */
  readonly rest: number
  /** The number of invisible characters in the whole text. */
  readonly invisible: number
}

/** Spells out invisible characters, as `<U+202E>`. A run of spaces and line ends becomes one space. */
export function excerptOf(text: string, length: number): Excerpt {
  const trimmed = text.trim()
  const parts: string[] = []
  let [room, at, marks, before] = [length, 0, 0, '']
  for (const character of trimmed) {
    const isSpace = isSpaceIn(character)
    marks = /\p{M}/u.test(character) ? marks + 1 : 0
    const shown = isSpace
      ? ' '
      : isInvisible(character) || marks > MAX_COMBINING_MARKS
        ? escapeCodePoint(character)
        : character
    const isMore = !(isSpace && before === ' ')
    if (isMore && room < shown.length) break
    if (isMore) parts.push(shown)
    room -= isMore ? shown.length : 0
    before = shown
    at += character.length
  }
  return {
    text: parts.join('').trimEnd(),
    rest: countCharacters(trimmed.slice(at)).all,
    invisible: countCharacters(trimmed).invisible,
  }
}

function isSpaceIn(character: string): boolean {
  return /[\t\n\r\p{Zs}]/u.test(character)
}

function isInvisible(character: string): boolean {
  return invisiblePattern().test(character) && !isSpaceIn(character)
}

/** A message may have millions of characters, most of them plain. */
function countCharacters(text: string): { readonly all: number; readonly invisible: number } {
  let [all, invisible] = [0, 0]
  for (let at = 0; at < text.length; all++) {
    const code = text.codePointAt(at) ?? 0
    if ((code < 0x20 || code > 0x7e) && isInvisible(String.fromCodePoint(code))) invisible++
    at += code > 0xffff ? 2 : 1
  }
  return { all, invisible }
}

function escapeCodePoint(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`
}

/** Writes invisible characters as escapes, which mean the same in JSON. */
export function escapeInJson(json: string): string {
  if (!/[^\n -~]/.test(json)) return json
  return json.replace(new RegExp(invisiblePattern().source, 'gu'), character => {
    if (character === '\n') return character // A line end between values: JSON has none within them.
    const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    return units.map(unit => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  })
}
