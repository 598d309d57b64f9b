/** One word of a POSIX shell line, whatever it contains except NUL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A command line for people to read and paste: words are quoted only where they need it. */
export function commandLine(argv: readonly string[]): string {
  return argv.map(word => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : quote(word))).join(' ')
}

/** Whether every shell can export a variable of that name. Bash gives others to exported functions; OPTIND must be a number. */
export function canExport(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && name !== 'OPTIND'
}
