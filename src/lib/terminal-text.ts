// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of control characters
const SEQUENCES =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[P^_X][^\u001b]*\u001b\\|\u001b[ -/]*[0-~]/g
const COLOUR = /^\u001b\[[0-9;:]*m$/
/** What stays of a line. An escape that begins nothing we know is not in it. */
const CHARACTERS = /[^\u001b]/gu
const CHARACTERS_AND_COLOURS = /[^\u001b]|\u001b\[[0-9;:]*m/gu
const CONTROLS = /[\u0000-\u0007\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g

/** What a person would have read on the screen: no cursor movements, overwritten progress lines only as they ended. */
export function readable(text: string, options: { colour: boolean }): string {
  const coloured = text.replace(SEQUENCES, sequence => (options.colour && COLOUR.test(sequence) ? sequence : ''))
  const tokens = options.colour ? CHARACTERS_AND_COLOURS : CHARACTERS
  return coloured
    .split('\n')
    .map(line => asItEnded(line, tokens))
    .join('\n')
}

/** Text for a single line of a table or a sentence: nothing in it can move the cursor or change the colour. */
export function oneLine(text: string): string {
  return text
    .replace(SEQUENCES, '')
    .replace(/\s+/g, ' ')
    .replace(CONTROLS, '')
    .replace(/[\u0008\u001b]/g, '')
    .trim()
}

function asItEnded(line: string, tokens: RegExp): string {
  let end = line.length
  while (line[end - 1] === '\r') end-- // A program that writes \r\n on a terminal gets \r\r\n.
  const withoutEnd = line.slice(0, end)
  const lastTurn = withoutEnd.lastIndexOf('\r')
  const visible = (lastTurn < 0 ? withoutEnd : withoutEnd.slice(lastTurn + 1)).replace(CONTROLS, '')
  return /[\u0008\u001b]/.test(visible) ? erased(visible.match(tokens) ?? []) : visible
}

/** A backspace takes back the character before it, but no colour. */
function erased(tokens: readonly string[]): string {
  const kept: string[] = []
  for (const token of tokens) {
    if (token !== '\u0008') {
      kept.push(token)
      continue
    }
    const last = kept.findLastIndex(isCharacter)
    if (last >= 0) kept.splice(last, 1)
  }
  return kept.join('')
}

function isCharacter(token: string): boolean {
  return !token.startsWith('\u001b')
}
