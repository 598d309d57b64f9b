import fs from 'node:fs'
import path from 'node:path'
import type { LoopSpec } from '../core/loop/spec.ts'
import { systemClock } from '../world/os/system-clock.ts'
import type { Home } from '../world/os/home.ts'
import { projectChecks } from '../world/checks/checks.ts'
import { gitWorkshop } from '../world/git/workshop/git-workshop.ts'
import { beadsSource } from '../world/tasks/beads-source.ts'
import { fileSource } from '../world/tasks/file-source.ts'
import { sourceAt } from '../world/tasks/source-at.ts'
import type { TaskSource } from '../ports/task-source.ts'
import { Audit } from './audit/audit.ts'
import { CheckoutWatch } from './audit/checkout-watch.ts'
import { RefWatch } from './audit/ref-watch.ts'
import type { Gear, Self } from './gear.ts'
import { Hands } from './hands.ts'
import { Layout } from './layout.ts'

/** Variables of this attempt, which others must not take for theirs. */
const OUR_OWN = new Set(['ONESHOT_ATTEMPT', 'ONESHOT_SESSION'])

/** Plugs the world into a loop. */
export async function composeGear(given: { home: Home; spec: LoopSpec; logs: string; self: Self }): Promise<Gear> {
  const { home, spec, logs, self } = given
  const env = environment()
  const workshop = gitWorkshop({ env })
  const source = await sourceFor(spec.list, self.cwd, env)
  const top = (await workshop.survey(self.cwd))?.top ?? self.cwd
  const layout = new Layout(self, top)
  const apart = [source.file ?? '.beads']
  const own = { inner: layout.inner, apart: apart.map(file => layout.listIn(file)) }
  const audit = new Audit({ workshop, cwd: self.cwd, id: self.id, ...own })
  return {
    self,
    home,
    spec,
    env,
    source,
    apart,
    workshop,
    checks: projectChecks(env),
    hands: new Hands(home, self.id),
    layout,
    audit,
    refs: new RefWatch({ workshop, cwd: self.cwd, id: self.id }),
    watch: new CheckoutWatch({ workshop, audit, cwd: self.cwd, top }),
    logs,
    now: () => systemClock.now(),
  }
}

/** A list that is still to be planned will be one of boxes. */
async function sourceFor(list: string | null, cwd: string, env: Readonly<Record<string, string>>): Promise<TaskSource> {
  if (list === null) return beadsSource(env)
  return fs.existsSync(path.resolve(cwd, list)) ? sourceAt({ cwd, env }, list) : fileSource('markdown', list)
}

function environment(): Record<string, string> {
  const entries = Object.entries(process.env)
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined && !OUR_OWN.has(entry[0])),
  )
}
