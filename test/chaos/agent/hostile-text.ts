/** Text that a hostile tool or file could bring into an agent's output. Each kind aims at one weakness of a reader. */
const HOSTILE_TEXTS: readonly ((size: number) => string)[] = [
  // Expressions that backtrack over repeated words take quadratic time.
  size => ' (file state is current in your context'.repeat(size / 40),
  size => 'password=" '.repeat(size / 11),
  size => '<!--'.repeat(size / 4),
  size => `${'a'.repeat(size)}!`,
  // Colours, backspaces and carriage returns rewrite one line many times.
  size => '\u001b[31m\b\r'.repeat(size / 7),
  // Control sequences for a terminal: clipboard, title, C1 codes, right-to-left text.
  size => '\u001b]52;c;aGVsbG8=\u0007\u009b2J\u009d0;owned\u009c\u202e\u2066'.repeat(size / 40),
  // Endless lines and invalid characters.
  size => '\n'.repeat(size),
  size => '\ud800\udfff\u0000\u007f\ufffd'.repeat(size / 5),
]

/** Returns half a megabyte of one kind; the step selects the kind. */
export function hostileText(step: number): string {
  const make = HOSTILE_TEXTS[step % HOSTILE_TEXTS.length] as (size: number) => string
  return make(500_000)
}
