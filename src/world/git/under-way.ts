import fs from 'node:fs'
import path from 'node:path'

/** Files of a git folder that say that somebody is in the middle of something. */
const UNDER_WAY: Readonly<Record<string, string>> = {
  MERGE_HEAD: 'a merge',
  'rebase-merge': 'a rebase',
  'rebase-apply/applying': 'a git am',
  'rebase-apply': 'a rebase',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  REVERT_HEAD: 'a revert',
  BISECT_LOG: 'a bisection',
}

/** What somebody is in the middle of; null when it is nothing. */
export function underWay(gitDir: string): string | null {
  const found = Object.entries(UNDER_WAY).find(([file]) => fs.existsSync(path.join(gitDir, file)))
  return found?.[1] ?? null
}
