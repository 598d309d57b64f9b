import { expect, test } from 'vitest'
import { parseCheckpointRecord } from '../../core/checkpoint/record.ts'
import { createSession } from '../../core/session/create.ts'
import { SimulatedMachine } from '../../../testkit/in-memory/machine.ts'
import { InMemoryRuntime } from '../../../testkit/in-memory/runtime.ts'
import { makeSpec } from '../../../testkit/in-memory/simulation.ts'
import { VirtualClock } from '../../../testkit/in-memory/virtual-clock.ts'
import { checkpointRequest, formatCheckpointRecord } from './build-checkpoint-request.ts'
import {
  CHECKPOINT_TRIGGERS,
  type CheckpointTrigger,
  DEFAULT_CHECKPOINT_OPTIONS,
} from '../../core/checkpoint/checkpoint.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Agent } from '../../ports/agent.ts'

async function recordOf(
  prompt: string,
  env: Record<string, string> = {},
  { argv = ['--fast'], said = '' }: { argv?: readonly string[]; said?: string } = {},
): Promise<string> {
  const work = new InMemoryRuntime(new SimulatedMachine(new VirtualClock(), {}))
  const spec = makeSpec({ agent: 'talker', argv: ['talker', ...argv] })
  await work.prepare(spec.id, { prompt: Buffer.from(prompt), env })
  work.writeTranscript(spec.id, 0, said)
  return formatCheckpointRecord(createSession(spec, { hasPrompt: true }).session, work)
}

test('a record holds the facts that another machine needs to continue the session', async () => {
  expect(JSON.parse(await recordOf('do it'))).toMatchObject({
    version: 1,
    session: { name: 'talker-task', agent: 'talker', argv: ['--fast'] },
    goal: ['do it'],
    state: 'starting',
  })
})

test('a record masks secrets and truncates long prompts', async () => {
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

const TOKEN = 'AIzaSyA1bC2dE3fG4hI5jK6lM7nO8pQ9rS0tU1v'

test('a record masks an argument because of the option before it, and keeps it as one argument', async () => {
  const record = await recordOf(
    'do it',
    {},
    { argv: ['--token', 'a1b2c3d4e5f6', '--name', 'Zoë', '--url=https://a:b1c2d3@host'] },
  )
  const { session } = JSON.parse(record) as { session: { argv: string[] } }
  expect(session.argv).toEqual(['--token', '************', '--name', 'Zoë', '--url=https://a:******@host'])
})

test('a record masks a secret at the cut of a text as a whole', async () => {
  const goal = await recordOf(`${'x '.repeat(9_985)}${TOKEN}`)
  expect(goal).not.toContain(TOKEN.slice(0, 20))
  const lastWord = await recordOf('do it', {}, { said: `${'x'.repeat(5_000)} ${TOKEN} ${'y'.repeat(3_970)}` })
  expect(lastWord).not.toContain(TOKEN.slice(-10))
})

test('the record of a running session holds its output so far', async () => {
  expect(JSON.parse(await recordOf('do it', {}, { said: '── attempt 1\nI begin with the tests.\n' }))).toMatchObject({
    lastWord: 'I begin with the tests.',
  })
})

test('another machine can read the record of a session that exceeds every maximum of a record, with its limits', async () => {
  const work = new InMemoryRuntime(new SimulatedMachine(new VirtualClock(), {}))
  const limits = { usd: 5, tokens: 1_000, turns: 7 }
  const verify = { git: true, check: 'x'.repeat(10_000) }
  const patience = { silence: 1, limit: 2, absence: 3 }
  const supervision = { limits, verify, patience, maxTime: 9, maxOutput: 10_000_000, memory: 2_000_000 }
  const argv = ['talker', ...Array.from({ length: 3_000 }, () => 'y'.repeat(5_000))]
  const spec = makeSpec({ agent: 'talker', argv, title: 't'.repeat(200_000), supervision })
  await work.prepare(spec.id, { prompt: Buffer.from('\u0001'.repeat(30_000)), env: {} })
  const { session } = createSession(spec, { hasPrompt: true })
  const [first] = session.messages
  if (first === undefined) throw new Error('it has a prompt')
  const messages = Array.from({ length: 3_000 }, (_, at) => ({ ...first, id: at + 1 }))
  for (const { id } of messages.slice(1)) await work.storeMessage(spec.id, id, Buffer.from(`message ${id}`))
  const tasks = Array.from({ length: 5_000 }, (_, at) => ({
    id: `${at}`,
    title: 'z'.repeat(9_000),
    state: 'open' as const,
    source: 'user' as const,
  }))
  const record = parseCheckpointRecord(formatCheckpointRecord({ ...session, messages, tasks }, work))
  expect(record).toMatchObject({ session: supervision })
  expect([record?.goal.length, record?.tasks.length]).toEqual([1_000, 200])
})

const clock = new VirtualClock()
const runtime = new InMemoryRuntime(new SimulatedMachine(clock, {}))
const agents = (): Agent => ({ kind: 'talker', program: 'talker', takesPrompt: true }) as Agent
const context = { agents, clock, runtime }
const spec = makeSpec({ agent: 'talker', supervision: { saving: { ...DEFAULT_CHECKPOINT_OPTIONS, mode: 'branch' } } })
await runtime.prepare(spec.id, { prompt: Buffer.from('do it'), env: {} })
const live = createSession(spec, { hasPrompt: true }).session
const ended: Session = {
  ...live,
  phase: { name: 'ended', outcome: 'done', at: 1, reason: 'it said so', trouble: null },
}

const shown = (session: Session): CheckpointTrigger[] =>
  CHECKPOINT_TRIGGERS.filter(trigger => checkpointRequest(session, trigger, context).isVisible)

test('a visible commit never contains the edits of people before, after and beside the work', () => {
  expect(shown(live)).toEqual(['edit', 'interval', 'restart', 'error', 'stop', 'end'])
  expect(shown(ended)).toEqual(['error', 'stop', 'end'])
})

test('any checkpoint fulfils a pending request for an end checkpoint', () => {
  const wanted = { ...ended, saved: { ...ended.saved, wanted: { trigger: 'end', at: 1 } as const } }
  expect(checkpointRequest(wanted, 'interval', context)).toMatchObject({ trigger: 'end', isRecordNews: true })
  expect(checkpointRequest(wanted, 'asked', context)).toMatchObject({
    trigger: 'asked',
    isRecordNews: true,
    isVisible: true,
  })
  expect(checkpointRequest(ended, 'asked', context)).toMatchObject({ isRecordNews: false, isVisible: false })
})
