/** One word of a POSIX shell line, whatever it contains except NUL. */
export function quoteShellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A command line for people to read and paste: words are quoted only where they need it. */
export function formatCommandLine(argv: readonly string[]): string {
  return argv.map(word => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : quoteShellWord(word))).join(' ')
}

/** Whether every shell can export a variable of that name. Bash gives others to exported functions; OPTIND must be a number. */
export function isExportableVariable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && name !== 'OPTIND'
}

/**
 * The words of a command as a shell would tell them apart: quotes and backslashes are understood, and nothing is expanded.
 * Undefined when a quote is not closed or a backslash ends it.
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

/** What the text begins with: as it is written, what it stands for, and whether it only parts words. */
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
