/** A tmux release as numbers: `tmux 3.3a` and `tmux next-3.6` compare as 3.3 and 3.6; undefined for others. */
export function tmuxVersion(text: string): { readonly major: number; readonly minor: number } | undefined {
  const [, major, minor] = /(\d{1,9})\.(\d{1,9})/.exec(text) ?? []
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) }
}

export function isAtLeast(
  version: { readonly major: number; readonly minor: number },
  major: number,
  minor: number,
): boolean {
  return version.major > major || (version.major === major && version.minor >= minor)
}
