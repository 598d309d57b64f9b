import type { Desk } from '../gear.ts'
import { runCheck } from './judge.ts'

/** Runs the check before any task is begun: a check that fails by itself is nobody's fault. */
export async function firstCheck(desk: Desk): Promise<void> {
  const { gear, loop, report, ending } = desk
  const { self, layout } = gear
  const cwd = loop().branch === null ? self.cwd : layout.within(layout.integration)
  const check = await runCheck({ cwd }, 'first', desk)
  // A check that cannot be run at all is no excuse: nothing would ever be proven.
  const told = check?.isUnknown === true ? null : check
  if (!ending.aborted) report({ type: 'check.tried', check: told, trouble: null })
}
