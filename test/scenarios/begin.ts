import type { Spec } from '../../src/core/session.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Machine } from '../../src/testkit/memory/machine.ts'
import type { Program } from '../../src/testkit/memory/scripted-process.ts'
import { Stage, specOf } from '../../src/testkit/memory/stage.ts'

/** A stage on which a supervisor has just accepted a session called s1. The machine may be prepared for it. */
export async function begin(
  program: Program,
  prepare: (machine: Machine) => void = () => undefined,
  wishes: Partial<Spec> = {},
): Promise<{ stage: Stage; engine: Engine }> {
  const spec = specOf({ agent: 'talker', ...wishes })
  const stage = new Stage({ [spec.agent]: program })
  prepare(stage.machine)
  const { engine } = stage.supervisor()
  await engine.start()
  await engine.create(spec, { prompt: Buffer.from('do it'), env: {} })
  return { stage, engine }
}
