import type { Engine } from '../../src/engine/engine.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { Simulation, makeSpec } from '../../testkit/in-memory/simulation.ts'

export const FILES = { prompt: Buffer.from('do it'), env: {} }
export const MINUTE = 60_000

/** Plans two tasks, finishes the first, and takes longer for the second. */
const PLANNER: ScriptedProgram = {
  run: () => [
    { say: 'thread: t-1\nplan: 1 doing bd-1: write tests; 2 open tidy up\n' },
    { wait: 1_000 },
    { say: 'plan: 1 done bd-1: write tests; 2 doing tidy up\n' },
    { wait: 10 * MINUTE },
    { say: 'plan: 1 done bd-1: write tests; 2 done tidy up\ndone: all of it\n' },
  ],
}

/** Returns a project whose tracker has two open issues, bd-1 and bd-2. */
export function openBeadsSimulation(program: ScriptedProgram = PLANNER): Simulation {
  const simulation = new Simulation({ talker: program })
  simulation.beads.root = '/project'
  simulation.beads.issues = ['bd-1', 'bd-2'].map(id => ({ id, title: `issue ${id}`, state: 'open' }))
  return simulation
}

/** Returns a supervisor that has just accepted a session named s1. */
export async function startAcceptedSession(simulation: Simulation): Promise<Engine> {
  const { engine } = simulation.supervisor()
  await engine.start()
  await engine.create(makeSpec({ agent: 'talker' }), FILES)
  return engine
}
