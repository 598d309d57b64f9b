// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of control characters
const SEQUENCES =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[P^_X][^\u001b]*\u001b\\|\u001b[ -/]*[0-~]/g
const COLOUR = /^\u001b\[[0-9;:]*m$/
const CONTROLS = /[\u0000-\u0007\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g

/** What a person would have read on the screen: no cursor movements, overwritten progress lines only as they ended. */
export function readable(text: string, options: { colour: boolean }): string {
  const coloured = text.replace(SEQUENCES, sequence => (options.colour && COLOUR.test(sequence) ? sequence : ''))
  return coloured.split('\n').map(asItEnded).join('\n')
}

/** Text for a single line of a table or a sentence: nothing in it can move the cursor or change the colour. */
export function oneLine(text: string): string {
  return text.replace(SEQUENCES, '').replace(/\s+/g, ' ').replace(CONTROLS, '').replaceAll('\u001b', '').trim()
}

function asItEnded(line: string): string {
  const withoutEnd = line.endsWith('\r') ? line.slice(0, -1) : line
  const lastTurn = withoutEnd.lastIndexOf('\r')
  const visible = lastTurn < 0 ? withoutEnd : withoutEnd.slice(lastTurn + 1)
  return erased(visible).replace(CONTROLS, '')
}

/** A backspace takes back the character before it. */
function erased(text: string): string {
  let rest = text
  while (/[^\u0008]\u0008/.test(rest)) rest = rest.replace(/[^\u0008]\u0008/, '')
  return rest.replaceAll('\u0008', '')
}
