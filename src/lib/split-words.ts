/**
 * The words of a command as a shell would tell them apart: quotes and backslashes are understood, and nothing is expanded.
 * Undefined when a quote is not closed or a backslash ends it.
 */
export function splitWords(command: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let rest = command
  while (rest !== '') {
    const [piece, text, isGap] = nextPiece(rest) ?? []
    if (piece === undefined || text === undefined) return undefined
    if (isGap && word !== undefined) words.push(word)
    word = isGap ? undefined : (word ?? '') + text
    rest = rest.slice(piece.length)
  }
  return word === undefined ? words : [...words, word]
}

/** What the text begins with: as it is written, what it stands for, and whether it only parts words. */
function nextPiece(text: string): readonly [string, string, boolean] | undefined {
  const gap = /^\s+/.exec(text)
  if (gap !== null) return [gap[0], '', true]
  const single = /^'([^']*)'/.exec(text)
  if (single !== null) return [single[0], single[1] as string, false]
  const double = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(text)
  if (double !== null) return [double[0], (double[1] as string).replace(/\\(["\\$`])/g, '$1'), false]
  const escaped = /^\\([\s\S])/.exec(text)
  if (escaped !== null) return [escaped[0], escaped[1] as string, false]
  const plain = /^[^\s'"\\]+/.exec(text)
  return plain === null ? undefined : [plain[0], plain[0], false]
}
