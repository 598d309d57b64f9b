import type { Paint } from './colors.ts'

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/

/** Colours a patch line by line, as git does. The counts of a hunk tell its lines from the headers of the next file. */
export function paintDiff(patch: string, paint: Paint): string {
  let [removed, added] = [0, 0]
  return mapLines(patch, line => {
    const hunk = removed + added > 0 ? null : HUNK.exec(line)
    if (hunk !== null) {
      removed = Number(hunk[1] ?? 1)
      added = Number(hunk[2] ?? 1)
      return `${paint.cyan(hunk[0])}${line.slice(hunk[0].length)}`
    }
    if (line.startsWith('\\')) return line // `\\ No newline at end of file` counts as no line.
    if (removed + added === 0) return paint.bold(line)
    if (!line.startsWith('+')) removed--
    if (!line.startsWith('-')) added--
    if (line.startsWith('+')) return paint.green(line)
    return line.startsWith('-') ? paint.red(line) : line
  })
}

/** Colours the bars of `--stat`. */
export function paintDiffStat(text: string, paint: Paint): string {
  return mapLines(text, line => {
    const at = line.lastIndexOf(' ') + 1
    const bar = line.slice(at)
    if (!/^\+*-*$/.test(bar)) return line
    const end = bar.lastIndexOf('+') + 1
    return `${line.slice(0, at)}${paint.green(bar.slice(0, end))}${paint.red(bar.slice(end))}`
  })
}

function mapLines(text: string, change: (line: string) => string): string {
  return text.split('\n').map(change).join('\n')
}
