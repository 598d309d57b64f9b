import { expect, test } from 'vitest'
import { DEFAULT_SAVING, TRIGGERS, type Trigger } from '../core/checkpoint.ts'
import { create } from '../core/create.ts'
import type { Session } from '../core/session.ts'
import type { Agent } from '../ports/agent.ts'
import { Machine } from '../testkit/memory/machine.ts'
import { MemoryWork } from '../testkit/memory/memory-work.ts'
import { specOf } from '../testkit/memory/stage.ts'
import { VirtualClock } from '../testkit/memory/virtual-clock.ts'
import { occasionOf } from './occasion.ts'

const clock = new VirtualClock()
const work = new MemoryWork(new Machine(clock, {}))
const agents = (): Agent => ({ kind: 'talker', program: 'talker', takesPrompt: true }) as Agent
const world = { agents, clock, work }
const spec = specOf({ agent: 'talker', saving: { ...DEFAULT_SAVING, mode: 'branch' } })
await work.prepare(spec.id, { prompt: Buffer.from('do it'), env: {} })
const live = create(spec, { hasPrompt: true }).session
const ended: Session = {
  ...live,
  phase: { name: 'ended', outcome: 'done', at: 1, reason: 'it said so', trouble: null },
}

const shown = (session: Session): Trigger[] => TRIGGERS.filter(trigger => occasionOf(session, trigger, world).isVisible)

test('what people do before, after and beside the work is never committed for them', () => {
  expect(shown(live)).toEqual(['edit', 'interval', 'restart', 'error', 'stop', 'end'])
  expect(shown(ended)).toEqual(['error', 'stop', 'end'])
})

test('an end that is due is met by whatever is saved then', () => {
  const wanted = { ...ended, saved: { ...ended.saved, wanted: { trigger: 'end', at: 1 } as const } }
  expect(occasionOf(wanted, 'interval', world)).toMatchObject({ trigger: 'end', isRecordNews: true })
  expect(occasionOf(wanted, 'asked', world)).toMatchObject({
    trigger: 'asked',
    isRecordNews: true,
    isVisible: true,
  })
  expect(occasionOf(ended, 'asked', world)).toMatchObject({ isRecordNews: false, isVisible: false })
})
