import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Mode } from '../../src/core/session/session-state.ts'
import type { LaunchSpec } from '../../src/ports/runtime.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { processesOf } from '../../testkit/system/process-list.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { createCgroup, removeCgroup } from '../../src/os/cgroup.ts'
import { attemptId } from '../../src/state/session-folder.ts'
import type { Home } from '../../src/state/home.ts'
import { installPrograms } from '../../src/world/runtime/install-programs.ts'
import { Panes } from '../../src/world/runtime/panes.ts'
import { findTmux } from '../../src/world/runtime/tmux-client.ts'
import { TmuxRuntime } from '../../src/world/runtime/tmux-runtime.ts'
import { LAUNCH_DEFAULTS } from './launch-defaults.ts'
import type { RuntimeFixture } from './runtime-fixture.ts'

export interface TmuxFixture extends RuntimeFixture {
  readonly work: TmuxRuntime
  readonly home: Home
  readonly panes: Panes
  /** Returns a spec with a session id and a name, without preparing anything. */
  reserve(): LaunchSpec
  /** Prepares a session with this environment and returns the spec that launches this argv. */
  run(argv: readonly string[], overrides?: LaunchOverrides): Promise<LaunchSpec>
}

export type LaunchOverrides = Partial<LaunchSpec> & { prompt?: Uint8Array; saved?: Readonly<Record<string, string>> }

/** A real home with real tmux servers. `close` ends everything launched in it and checks that nothing is left. */
export function openTmuxFixture(mode: Mode, name = ''): TmuxFixture {
  const temp: TempHome = tempHome(name)
  const { home } = temp
  const panes = new Panes(home, () => findTmux(process.env), installPrograms(home))
  const works = [new TmuxRuntime(home, panes)]
  const work = works[0] as TmuxRuntime
  const orders: LaunchSpec[] = []
  const reserve = (overrides: Partial<LaunchSpec> = {}): LaunchSpec => {
    const number = orders.length + 1
    const spec: LaunchSpec = {
      // The id is random, because the process scan covers the whole machine, where other homes are in use.
      sessionId: testSessionId(crypto.randomBytes(5).toString('hex')),
      name: `twin-${number}`,
      mode,
      argv: [],
      cwd: path.join(home.root, `cwd${number}`),
      ...LAUNCH_DEFAULTS,
      ...overrides,
    }
    orders.push(spec)
    return spec
  }
  const run = async (
    argv: readonly string[],
    { prompt, saved, ...overrides }: LaunchOverrides = {},
  ): Promise<LaunchSpec> => {
    const spec = reserve({ argv, ...overrides })
    if (overrides.cwd === undefined) fs.mkdirSync(spec.cwd)
    const env = saved ?? { PATH: process.env['PATH'] ?? '' }
    await work.prepare(spec.sessionId, { prompt: prompt ?? null, env })
    return spec
  }
  return {
    work,
    home,
    panes,
    reserve,
    run,
    another: () => {
      const other = new TmuxRuntime(home, panes)
      works.push(other)
      return other
    },
    order: ({ sh }, overrides) => run(['/bin/sh', '-c', sh], overrides),
    until: waitUntil,
    hasGroups: canCreateCgroups(),
    alive: ref => processesOf(`ONESHOT_ATTEMPT=${attemptId(ref.sessionId, ref.attempt)}`).length,
    close: async () => {
      for (const each of works) each.shutDown()
      for (const spec of orders) {
        const attempts = path.join(home.sessions, spec.sessionId, 'attempts')
        for (const attempt of fs.existsSync(attempts) ? fs.readdirSync(attempts) : []) {
          await work.sweep({ ...spec, attempt: Number(attempt) }, { force: true })
        }
        await work.closePanes(spec)
      }
      await temp.assertNoLeaks()
    },
  }
}

export function canCreateCgroups(): boolean {
  const group = createCgroup(`try-${crypto.randomBytes(5).toString('hex')}`)
  if (group !== null) removeCgroup(group)
  return group !== null
}
