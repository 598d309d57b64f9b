import { expect } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import { SimulatedMachine, attemptKey } from '../../testkit/in-memory/machine.ts'
import { InMemoryRuntime } from '../../testkit/in-memory/runtime.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { VirtualClock } from '../../testkit/in-memory/virtual-clock.ts'
import { LAUNCH_DEFAULTS } from './launch-defaults.ts'
import type { RuntimeFixture } from './runtime-fixture.ts'
import { testRuntime } from './runtime-contract.ts'

testRuntime('an in-memory machine', 'headless', () => openMemoryBench(true))
testRuntime('a stand-in that cannot tell what is left', 'headless', () => openMemoryBench(false))

function openMemoryBench(hasGroups: boolean): RuntimeFixture {
  const clock = new VirtualClock()
  const programs: Record<string, ScriptedProgram> = {}
  const machine = new SimulatedMachine(clock, programs)
  machine.hasGroups = hasGroups
  const work = new InMemoryRuntime(machine)
  let sessions = 0
  return {
    work,
    hasGroups,
    another: () => new InMemoryRuntime(machine),
    order: async ({ steps, sh, ...rest }, { prompt, ...wishes } = {}) => {
      const sessionId = testSessionId(`s${++sessions}`)
      programs[sessionId] = { ...rest, run: typeof steps === 'function' ? steps : () => steps }
      await work.prepare(sessionId, { prompt: prompt ?? null, env: {} })
      return {
        sessionId,
        name: `twin-${sessions}`,
        mode: 'headless',
        argv: [sessionId, sh],
        cwd: '/',
        ...LAUNCH_DEFAULTS,
        ...wishes,
      }
    },
    until: async (what, isSo) => {
      for (let turn = 0; !(await isSo()); turn++) {
        const isStuck = !(await clock.runNextTimer()) && !(await isSo())
        if (isStuck || turn > 1_000) throw new Error(`waited in vain until ${what}`)
      }
    },
    alive: ref => machine.alive().filter(name => name.split(' ')[0] === attemptKey(ref)).length,
    close: async () => expect(machine.listeners.size).toBeLessThan(9),
  }
}
