import { displayWidth } from '../../lib/display-width.ts'

/** Longer lines are hard to read, however wide the terminal is. */
const WIDEST = 100

/** Breaks help at words, so that no line is wider than the terminal; what stands in a second column stays there. */
export function fitTo(text: string, width: number): string {
  if (!Number.isFinite(width)) return text
  const widest = Math.max(20, Math.min(width, WIDEST))
  return paragraphsOf(text.split('\n'))
    .flatMap(line => broken(line, widest))
    .join('\n')
}

/** Lines of a paragraph are one line, which is broken anew. Indented lines stay apart. */
function paragraphsOf(lines: readonly string[]): string[] {
  const joined: string[] = []
  for (const line of lines) {
    const last = joined.at(-1)
    if (last !== undefined && isText(last) && isText(line)) joined[joined.length - 1] = `${last} ${line}`
    else joined.push(line)
  }
  return joined
}

function isText(line: string): boolean {
  return line !== '' && !line.startsWith(' ')
}

function broken(line: string, width: number): string[] {
  const plain = withoutColour(line)
  if (displayWidth(plain) <= width) return [line]
  const [, first = '', second = ''] = /^(\s*(?:\S.*?\s{2,})?)(\S.*)$/.exec(plain) ?? []
  // Only names are coloured, and those stand in the first column or begin a line.
  const [head, rest] = line.endsWith(second) ? [first, second] : ['', line]
  const column = head.length <= width / 2 ? head.length : 6
  const lines = [line.slice(0, line.length - rest.length)]
  let used = displayWidth(head)
  for (const word of rest.split(' ')) {
    const length = displayWidth(withoutColour(word))
    const isFirst = used === displayWidth(head) && lines.length === 1
    const gap = isFirst || used === column ? '' : ' '
    if (used + gap.length + length > width && !isFirst) {
      lines.push(' '.repeat(column) + word)
      used = column + length
    } else {
      lines[lines.length - 1] += gap + word
      used += gap.length + length
    }
  }
  return lines
}

function withoutColour(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
  return text.replace(/\u001b\[[\d;]*m/g, '')
}
