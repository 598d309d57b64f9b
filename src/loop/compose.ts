import type { LoopSpec } from '../core/loop/spec.ts'
import { systemClock } from '../world/os/system-clock.ts'
import type { Home } from '../world/os/home.ts'
import { systemChecks } from '../world/checks/checks.ts'
import { gitWorkshop } from '../world/git/workshop/workshop.ts'
import { sourceOf } from '../world/tasks/source-of.ts'
import type { Gear, Self } from './gear.ts'
import { Hands } from './hands.ts'
import { Layout } from './layout.ts'

/** Variables of this attempt, which others must not take for theirs. */
const OUR_OWN = new Set(['ONESHOT_ATTEMPT', 'ONESHOT_SESSION'])

/** Plugs the world into a loop. */
export async function composeGear(given: { home: Home; spec: LoopSpec; logs: string; self: Self }): Promise<Gear> {
  const { home, spec, logs, self } = given
  const env = environment()
  const workshop = gitWorkshop(home)
  const top = (await workshop.survey(self.cwd))?.top ?? self.cwd
  return {
    self,
    home,
    spec,
    env,
    source: sourceOf({ cwd: self.cwd, file: spec.list, env, home }),
    workshop,
    checks: systemChecks(),
    hands: new Hands(home, self.id),
    layout: new Layout(self, top),
    logs,
    now: () => systemClock.now(),
  }
}

function environment(): Record<string, string> {
  const entries = Object.entries(process.env)
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined && !OUR_OWN.has(entry[0])),
  )
}
