// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of control characters
const SEQUENCES =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[P^_X][^\u001b]*\u001b\\|\u001b[ -/]*[0-~]/g
const COLOUR = /^\u001b\[([0-9;:]{0,40})m$/
/** Matches the characters that stay in a line. An escape that begins no known sequence does not. */
const CHARACTERS = /[^\u001b]/gu
const CHARACTERS_AND_COLOURS = /[^\u001b]|\u001b\[[0-9;:]*m/gu
/** Includes the eight-bit controls, which some terminals obey, and the controls that change the direction of text. */
const CONTROLS =
  /[\u0000-\u0007\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
/** Matches everything that a terminal may obey, except line ends and tabs. */
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const HAS_CONTROL_CHARACTERS = new RegExp(CONTROL_CHARACTERS.source)
/** The colours of our own text. */
const OWN_COLOUR = /^\u001b\[(?:0|1|2|3[1-6])m$/

/**
 * Returns the text as a person reads it on the screen: without cursor movements, and with the final state of
 * overwritten progress lines.
 */
export function renderTerminalText(text: string, options: { colour: boolean }): string {
  const coloured = text.replace(SEQUENCES, sequence => (options.colour ? toReadableColour(sequence) : ''))
  const tokens = options.colour ? CHARACTERS_AND_COLOURS : CHARACTERS
  return coloured
    .split('\n')
    .map(line => applyCarriageReturns(line, tokens))
    .join('\n')
}

/** Most texts are words of plain ASCII with single spaces, and need none of the larger expressions. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/

/** Converts text to a single line of a table or a sentence: nothing in it can move the cursor or change the colour. */
export function toOneLine(text: string): string {
  if (PLAIN_LINE.test(text)) return text
  return text
    .replace(SEQUENCES, '')
    .replace(/\s+/g, ' ')
    .replace(CONTROLS, '')
    .replace(/[\u0008\u001b]/g, '')
    .trim()
}

/** Removes all controls from text for a terminal, except our own colours. */
export function stripControls(text: string, options: { colour: boolean }): string {
  if (!HAS_CONTROL_CHARACTERS.test(text)) return text
  const isPaint = (sequence: string): boolean => options.colour && OWN_COLOUR.test(sequence)
  const parts = text.replace(SEQUENCES, sequence => (isPaint(sequence) ? sequence : '')).split(/(\u001b\[[0-9]{1,2}m)/)
  return parts.map(part => (isPaint(part) ? part : part.replace(CONTROL_CHARACTERS, ''))).join('')
}

/** Ends every colour. */
export const RESET_COLOUR = '\u001b[0m'
/** Bold, underlined, the usual foreground colours, and the ends of all these. */
const READABLE_ATTRIBUTE = /^(?:|[0-4]|2[1-4]|3[1-7]|39|9[0-7])$/
/** The darkest of the 256 colours. */
const DARK_COLOUR = /^(?:0|16|17|23[2-9])$/
/** The part of red, green or blue that makes a colour visible on a dark screen. */
const MIN_BRIGHTNESS = 80

/** Removes the attributes that could hide text: concealed text, backgrounds and dark letters. */
function toReadableColour(sequence: string): string {
  const [, attributes] = COLOUR.exec(sequence) ?? []
  if (attributes === undefined) return ''
  const words = attributes.replaceAll(':', ';').split(';')
  const kept: string[] = []
  for (let at = 0; at < words.length; at++) {
    const [word = '', kind, ...values] = words.slice(at, at + 5)
    const length = word !== '38' && word !== '48' ? 1 : kind === '2' ? 5 : 3
    if (word === '38' ? isBright(kind, values) : READABLE_ATTRIBUTE.test(word))
      kept.push(...words.slice(at, at + length))
    at += length - 1
  }
  return kept.length === 0 ? '' : `\u001b[${kept.join(';')}m`
}

function isBright(kind: string | undefined, values: readonly string[]): boolean {
  const [first = ''] = values
  if (kind === '5') return /^\d+$/.test(first) && !DARK_COLOUR.test(first)
  return kind === '2' && values.length === 3 && values.some(value => Number(value) >= MIN_BRIGHTNESS)
}

/** Spells out all controls in the text of a file, so that they cannot hide anything from a reader. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL_CHARACTERS, escapeCharacter)
}

/** Returns `^[` for an escape, `<9b>` for a control without such a name. */
function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x80) return `^${String.fromCharCode(code ^ 0x40)}`
  return `<${code.toString(16)}>`
}

function applyCarriageReturns(line: string, tokens: RegExp): string {
  let end = line.length
  while (line[end - 1] === '\r') end-- // A program that writes \r\n on a terminal gets \r\r\n.
  const withoutEnd = line.slice(0, end)
  const lastTurn = withoutEnd.lastIndexOf('\r')
  const visible = (lastTurn < 0 ? withoutEnd : withoutEnd.slice(lastTurn + 1)).replace(CONTROLS, '')
  return /[\u0008\u001b]/.test(visible) ? applyBackspaces(visible.match(tokens) ?? []) : visible
}

/** A backspace removes the character before it, but no colour. */
function applyBackspaces(tokens: readonly string[]): string {
  const kept: string[] = []
  const characters: number[] = []
  for (const token of tokens) {
    if (token === '\u0008') {
      const last = characters.pop()
      if (last !== undefined) kept[last] = ''
    } else {
      if (!token.startsWith('\u001b')) characters.push(kept.length)
      kept.push(token)
    }
  }
  return kept.join('')
}
