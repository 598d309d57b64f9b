import { expect, test } from 'vitest'
import { create } from '../core/create.ts'
import { Machine } from '../testkit/memory/machine.ts'
import { MemoryWork } from '../testkit/memory/memory-work.ts'
import { specOf } from '../testkit/memory/stage.ts'
import { VirtualClock } from '../testkit/memory/virtual-clock.ts'
import { checkpointRecord } from './checkpoint-record.ts'

async function recordOf(prompt: string, env: Record<string, string> = {}): Promise<string> {
  const work = new MemoryWork(new Machine(new VirtualClock(), {}))
  const spec = specOf({ agent: 'talker', argv: ['talker', '--fast'] })
  await work.prepare(spec.id, { prompt: Buffer.from(prompt), env })
  return checkpointRecord(create(spec, { hasPrompt: true }).session, work)
}

test('it says what is needed to go on elsewhere', async () => {
  expect(JSON.parse(await recordOf('do it'))).toMatchObject({
    version: 1,
    session: { name: 'talker-task', agent: 'talker', argv: ['--fast'] },
    goal: ['do it'],
    state: 'starting',
  })
})

test('secrets are hidden in it, and long prompts cut', async () => {
  const record = await recordOf(
    'use hunter2hunter2 and sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKKKLLLL now',
    {
      MY_TOKEN: 'hunter2hunter2',
    },
  )
  expect(record).not.toContain('hunter2')
  expect(record).not.toContain('AAAABBBB')
  expect((await recordOf('x'.repeat(100_000))).length).toBeLessThan(25_000)
})
