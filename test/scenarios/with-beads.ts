import type { Engine } from '../../src/engine/engine.ts'
import type { Program } from '../../src/testkit/memory/scripted-process.ts'
import { Stage, specOf } from '../../src/testkit/memory/stage.ts'

export const FILES = { prompt: Buffer.from('do it'), env: {} }
export const MINUTE = 60_000

/** Plans two tasks, finishes the first, and takes its time with the second. */
const PLANNER: Program = {
  run: () => [
    { say: 'thread: t-1\nplan: 1 doing bd-1: write tests; 2 open tidy up\n' },
    { wait: 1_000 },
    { say: 'plan: 1 done bd-1: write tests; 2 doing tidy up\n' },
    { wait: 10 * MINUTE },
    { say: 'plan: 1 done bd-1: write tests; 2 done tidy up\ndone: all of it\n' },
  ],
}

/** A project whose tracker has two open issues, bd-1 and bd-2. */
export function withBeads(program: Program = PLANNER): Stage {
  const stage = new Stage({ talker: program })
  stage.beads.root = '/project'
  stage.beads.issues = ['bd-1', 'bd-2'].map(id => ({ id, title: `issue ${id}`, state: 'open' }))
  return stage
}

/** A supervisor that has just accepted a session called s1. */
export async function accepted(stage: Stage): Promise<Engine> {
  const { engine } = stage.supervisor()
  await engine.start()
  await engine.create(specOf({ agent: 'talker' }), FILES)
  return engine
}
