import type { Engine } from '../../src/engine/engine.ts'
import type { SimulatedMachine } from '../../testkit/in-memory/machine.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { Simulation, makeSpec, type SpecOverrides } from '../../testkit/in-memory/simulation.ts'

/**
 * Returns a simulation in which a supervisor has just accepted a session named s1. A test may prepare the machine
 * first.
 */
export async function startSession(
  program: ScriptedProgram,
  prepare: (machine: SimulatedMachine) => void = () => undefined,
  overrides: SpecOverrides = {},
): Promise<{ stage: Simulation; engine: Engine }> {
  const spec = makeSpec({ agent: 'talker', ...overrides })
  const simulation = new Simulation({ [spec.agent]: program })
  prepare(simulation.machine)
  const { engine } = simulation.supervisor()
  await engine.start()
  await engine.create(spec, { prompt: Buffer.from('do it'), env: {} })
  return { stage: simulation, engine }
}
