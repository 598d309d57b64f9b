/** A release as numbers, `2.1.325` of `2.1.325 (Claude Code)`; undefined where there are none. */
export function versionIn(text: string): string | undefined {
  return /\d{1,9}\.\d{1,9}\.\d{1,9}/.exec(text)?.[0]
}

/** Negative when `a` is older than `b`, positive when it is newer. Both are dotted numbers. */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number)
  const right = b.split('.').map(Number)
  const differences = left.map((number, at) => number - (right[at] ?? 0))
  return differences.find(difference => difference !== 0) ?? left.length - right.length
}
