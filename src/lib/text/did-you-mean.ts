/** Returns the known word that a typo most likely meant, if any is near enough. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const prefixed = known.filter(candidate => word.length >= 2 && candidate.startsWith(word))
  if (prefixed.length === 1) return prefixed[0]
  const ranked = known
    .map(candidate => ({ candidate, edits: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)
  const best = ranked[0]
  const limit = word.length <= 5 ? 1 : Math.floor(word.length / 3)
  return best && best.edits <= limit ? best.candidate : undefined
}

/** Counts insertions, deletions, replacements and swapped neighbours, one each. */
export function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row: number[] = [i]
    const above = rows[i - 1] as number[]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let edits = Math.min((above[j] as number) + 1, (row[j - 1] as number) + 1, (above[j - 1] as number) + cost)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) edits = Math.min(edits, ((rows[i - 2] as number[])[j - 2] as number) + 1)
      row.push(edits)
    }
    rows.push(row)
  }
  return (rows[a.length] as number[])[b.length] as number
}
