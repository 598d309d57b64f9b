/**
 * Returns the columns of a text on a terminal: one for most characters, two for East Asian ones and emoji, none for
 * combining marks.
 */
export function displayWidth(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain ASCII is the usual case and needs no counting
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += widthOf(character.codePointAt(0) as number)
  return width
}

/** Returns the text itself if it fits, otherwise its start and an ellipsis, never wider than `width`. */
export function truncateToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  let cut = ''
  let used = 0
  for (const character of text) {
    used += widthOf(character.codePointAt(0) as number)
    if (used > width - 1) break
    cut += character
  }
  return width < 1 ? '' : `${cut}…`
}

export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
]

function widthOf(codePoint: number): number {
  if (codePoint < 0x300) return 1
  // Arrows, lines and other symbols. Without them, a usual list never compiles the expression below, which takes 2 ms.
  if (codePoint >= 0x2100 && codePoint <= 0x2bff) return 1
  if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(String.fromCodePoint(codePoint))) return 0
  return WIDE.some(([from, to]) => codePoint >= from && codePoint <= to) ? 2 : 1
}
