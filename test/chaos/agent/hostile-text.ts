/** Text that a hostile tool or file could bring into an agent's output. Each kind aims at one weakness of a reader. */
const HOSTILE_TEXTS: readonly ((size: number) => string)[] = [
  // Expressions that back up over repeated words take the square of their number.
  size => ' (file state is current in your context'.repeat(size / 40),
  size => 'password=" '.repeat(size / 11),
  size => '<!--'.repeat(size / 4),
  size => `${'a'.repeat(size)}!`,
  // Colours, backspaces and carriage returns make a line that is rewritten again and again.
  size => '\u001b[31m\b\r'.repeat(size / 7),
  // Control sequences that a terminal would obey: the clipboard, the title, C1 codes, text that runs backwards.
  size => '\u001b]52;c;aGVsbG8=\u0007\u009b2J\u009d0;owned\u009c\u202e\u2066'.repeat(size / 40),
  // Lines without end, and characters that are none.
  size => '\n'.repeat(size),
  size => '\ud800\udfff\u0000\u007f\ufffd'.repeat(size / 5),
]

/** Half a megabyte of one kind; the step decides which. */
export function hostileText(step: number): string {
  const make = HOSTILE_TEXTS[step % HOSTILE_TEXTS.length] as (size: number) => string
  return make(500_000)
}
