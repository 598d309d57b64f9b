/** What a line's first characters say it is, and how it is shown. */
const MARKS: readonly (readonly [mark: string, code: number])[] = [
  ['● ', 36],
  ['  │ ', 2],
  ['  ✗ ', 31],
  ['✗ ', 31],
  ['── ', 1],
]

/** Colours a transcript: what tools are called and give back, failures, and our own notes; the agent's words stay plain. */
export function paintTranscript(text: string): string {
  return text.split('\n').map(paintLine).join('\n')
}

function paintLine(line: string): string {
  const code = MARKS.find(([mark]) => line.startsWith(mark))?.[1]
  return code === undefined ? line : `\u001b[${code}m${line}\u001b[0m`
}
