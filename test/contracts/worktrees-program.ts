import type { Worktrees } from '../../src/ports/worktrees.ts'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'

/** What it says when it could not. */
export interface Refused {
  readonly trouble: string
}

/** Does one thing in a workshop, named by its arguments, and says what came of it. */
const [, , name = '', given = '[]'] = process.argv
const shop = gitWorktrees({ env: { ...process.env, SHOP_PID: String(process.pid) } })
const deed = shop[name as keyof Worktrees] as (...words: unknown[]) => Promise<unknown>
try {
  console.log(JSON.stringify((await deed.apply(shop, JSON.parse(given) as unknown[])) ?? 'done'))
} catch (cause) {
  const refused: Refused = { trouble: String(cause) }
  console.log(JSON.stringify(refused))
}
