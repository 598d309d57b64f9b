import type { Desk } from '../gear.ts'

/** Looks once more before the end whether finished work is still there: the last check, or somebody else, may have removed it. */
export async function audit({ gear, loop, report }: Desk): Promise<void> {
  const { tree } = await gear.workshop.snapshot(gear.self.cwd)
  const { losses, thinned } = await gear.audit.since(loop(), tree)
  report({ type: 'loop.audited', losses, notes: thinned })
}
