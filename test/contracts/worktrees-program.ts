import type { Worktrees } from '../../src/ports/worktrees.ts'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'

/** The result of a call that failed. */
export interface Refused {
  readonly trouble: string
}

/** Runs one method of Worktrees, named by its arguments, and prints the result. */
const [, , name = '', given = '[]'] = process.argv
const worktrees = gitWorktrees({ env: { ...process.env, SHOP_PID: String(process.pid) } })
const method = worktrees[name as keyof Worktrees] as (...words: unknown[]) => Promise<unknown>
try {
  console.log(JSON.stringify((await method.apply(worktrees, JSON.parse(given) as unknown[])) ?? 'done'))
} catch (cause) {
  const refused: Refused = { trouble: String(cause) }
  console.log(JSON.stringify(refused))
}
