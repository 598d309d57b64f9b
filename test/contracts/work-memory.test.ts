import { expect } from 'vitest'
import { Machine, keyOf } from '../../src/testkit/memory/machine.ts'
import { MemoryWork } from '../../src/testkit/memory/memory-work.ts'
import type { Program } from '../../src/testkit/memory/scripted-process.ts'
import { VirtualClock } from '../../src/testkit/memory/virtual-clock.ts'
import { PLAIN_ORDER } from './plain-order.ts'
import type { WorkBench } from './work-bench.ts'
import { promisesOfWork } from './work-contract.ts'

promisesOfWork('the stand-in', 'headless', () => openMemoryBench(true))
promisesOfWork('a stand-in that cannot tell what is left', 'headless', () => openMemoryBench(false))

function openMemoryBench(hasGroups: boolean): WorkBench {
  const clock = new VirtualClock()
  const programs: Record<string, Program> = {}
  const machine = new Machine(clock, programs)
  machine.hasGroups = hasGroups
  const work = new MemoryWork(machine)
  let sessions = 0
  return {
    work,
    hasGroups,
    another: () => new MemoryWork(machine),
    order: async ({ deeds, sh, ...rest }, { prompt, ...wishes } = {}) => {
      const sessionId = `s${++sessions}`
      programs[sessionId] = { ...rest, run: typeof deeds === 'function' ? deeds : () => deeds }
      await work.prepare(sessionId, { prompt: prompt ?? null, env: {} })
      return {
        sessionId,
        name: `twin-${sessions}`,
        mode: 'headless',
        argv: [sessionId, sh],
        cwd: '/',
        ...PLAIN_ORDER,
        ...wishes,
      }
    },
    until: async (what, isSo) => {
      for (let turn = 0; !(await isSo()); turn++) {
        const isStuck = !(await clock.next()) && !(await isSo())
        if (isStuck || turn > 1_000) throw new Error(`waited in vain until ${what}`)
      }
    },
    alive: ref => machine.alive().filter(name => name.split(' ')[0] === keyOf(ref)).length,
    close: async () => expect(machine.ears.size).toBeLessThan(9),
  }
}
