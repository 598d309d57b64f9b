/** Quotes one word of a POSIX shell line, with any content except NUL. */
export function quoteShellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Formats a command line for people to read and paste: it quotes only the words that need it. */
export function formatCommandLine(argv: readonly string[]): string {
  return argv.map(word => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : quoteShellWord(word))).join(' ')
}

/**
 * Returns true if every shell can export a variable of that name. Bash uses other names for exported functions; OPTIND
 * must be a number.
 */
export function isExportableVariable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && name !== 'OPTIND'
}

/**
 * Splits a command into words as a shell does: it understands quotes and backslashes, and expands nothing. Returns
 * undefined if a quote is not closed or a backslash ends the command.
 */
export function splitShellWords(command: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let rest = command
  while (rest !== '') {
    const [piece, text, isGap] = nextToken(rest) ?? []
    if (piece === undefined || text === undefined) return undefined
    if (isGap && word !== undefined) words.push(word)
    word = isGap ? undefined : (word ?? '') + text
    rest = rest.slice(piece.length)
  }
  return word === undefined ? words : [...words, word]
}

/** Returns the first token: its source, its value, and true if it only separates words. */
function nextToken(text: string): readonly [string, string, boolean] | undefined {
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
