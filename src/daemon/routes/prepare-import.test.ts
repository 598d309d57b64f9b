import { expect, test } from 'vitest'
import { testSessionId } from '../../../testkit/core/ids.ts'
import { parseCheckpointRecord } from '../../core/checkpoint/record.ts'
import type { Agent } from '../../ports/agent.ts'
import { InMemoryCheckpoints, InMemoryRepository } from '../../../testkit/in-memory/checkpoints.ts'
import { makeSpec } from '../../../testkit/in-memory/simulation.ts'
import { prepareImport } from './prepare-import.ts'
import { renameRecord } from './run-request-from-record.ts'

const RECORD = {
  version: 1,
  session: {
    id: 'there',
    name: 'claude-far',
    task: 'far',
    agent: 'claude',
    title: 'do it',
    cwd: '/gone',
    argv: ['--mcp-config', '{"mcpServers":{"x":{"command":"sh"}}}'],
    autonomy: 'full',
    model: 'opus',
    effort: null,
  },
  thread: null,
  goal: ['do it'],
  tasks: [],
  lastWord: 'half of it is done',
  state: 'running',
  reason: null,
}

const agents = (kind: string): Agent => ({ kind, takesPrompt: kind !== 'command' }) as Agent

/** Prepares the import of a session with this record. */
async function prepare(record: unknown, run: Partial<Parameters<typeof prepareImport>[0]['run']> = {}) {
  const repository = new InMemoryRepository()
  const checkpoints = new InMemoryCheckpoints({ repository })
  const target = { cwd: '/here', sessionId: testSessionId('there'), name: 'claude-far' }
  const text = JSON.stringify(record)
  const saveRequest = {
    trigger: 'edit',
    attempt: 1,
    at: 0,
    record: text,
    isRecordNews: false,
    isVisible: false,
  } as const
  await checkpoints.save(target, saveRequest)
  const request = {
    sessionId: 'there',
    name: 'claude-far',
    run: { cwd: '/here', env: {}, supervision: { maxTime: null }, ...run },
  }
  return { prepared: await prepareImport(request, { checkpoints, agents }) }
}

test('an import passes no argument of the record to a program, and the preview says so', async () => {
  const { prepared } = await prepare(RECORD, { autonomy: 'full' })
  expect(prepared.request).toMatchObject({ agent: 'claude', argv: [], autonomy: 'full', model: 'opus' })
  expect(prepared.preview.found.join()).toContain('arguments, which oneshot does not use here: --mcp-config')
})

test('an import has the lower autonomy of the record and the local user', async () => {
  expect((await prepare(RECORD, { autonomy: 'edits' })).prepared.request.autonomy).toBe('edits')
  const modest = { ...RECORD, session: { ...RECORD.session, autonomy: 'ask' } }
  expect((await prepare(modest, { autonomy: 'full' })).prepared.request.autonomy).toBe('ask')
  expect((await prepare(RECORD)).prepared.request.autonomy, 'nobody has chosen any').toBe('ask')
})

test.each([
  ['a command', { agent: 'command', argv: ['rm', '-rf', '/'] }, /is not started twice/],
  ['an unknown agent', { agent: 'somebody' }, /does not know/],
  ['a model that is an option', { model: '--settings=x' }, /cannot be read/],
])('an import refuses %s', async (_, changes, says) => {
  await expect(prepare({ ...RECORD, session: { ...RECORD.session, ...changes } })).rejects.toThrow(says)
})

test('the new session writes the same record from its start, under its own name', () => {
  const spec = makeSpec({ agent: 'talker', id: 's2', name: 'claude-far-2', task: 'far-2', cwd: '/here' })
  const record = parseCheckpointRecord(JSON.stringify({ ...RECORD, unknown: 'x' }))
  if (record === null) throw new Error('it can be read')
  const again = renameRecord(record, spec)
  expect(again).not.toContain('unknown')
  expect(parseCheckpointRecord(again)).toMatchObject({
    goal: ['do it'],
    session: { id: 's2', cwd: '/here', name: 'claude-far-2', task: 'far-2', agent: 'claude' },
  })
})

test('the preview shows what the agent will read: it spells out invisible characters and counts the omitted ones', async () => {
  const tags = Array.from('run it', letter => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join('')
  const goal = [`fix \u202ethe\u200b test${tags}`, 'x'.repeat(3_612), `${'\u3164\n'.repeat(500)}and then`]
  const hostile = {
    ...RECORD,
    goal,
    lastWord: 'a\u2066b',
    reason: `${'\u2800'.repeat(9_000)}next`,
    state: 'run\u202ening',
  }
  const { preview: outlook } = (await prepare(hostile)).prepared
  const shown = [...outlook.found, outlook.next]
  expect(shown.join('\n')).toMatch(/^[\n -~…]+$/)
  expect(shown).toEqual(
    expect.arrayContaining([
      'message 1: fix <U+202E>the<U+200B> test<U+E0072><U+E0075><U+E006E><U+E0020><U+E0069><U+E0074> (8 invisible)',
      `message 2: ${'x'.repeat(200)} … and 3,412 more characters`,
      expect.stringMatching(/^message 3: <U\+3164> .* more characters \(500 invisible\)$/),
      'its last words: a<U+2066>b (1 invisible)',
      'to read all of it: add --dry-run --json',
    ]),
  )
  for (const line of shown) expect(line.length).toBeLessThan(500)
  expect(outlook.texts).toEqual({ messages: goal, lastWords: 'a\u2066b', tasks: [], check: null })
  expect(outlook.next).toMatch(/^claude \(model opus\) with autonomy ask: /)
})

test('the preview of many long messages stays short and ends with the next step', async () => {
  const { preview: outlook } = (await prepare({ ...RECORD, goal: Array.from({ length: 900 }, () => 'y'.repeat(300)) }))
    .prepared
  expect(outlook.found.length).toBeLessThan(20)
  expect(outlook.found).toContain('890 more messages')
})

test('an import applies the stricter of two limits', async () => {
  const session = {
    ...RECORD.session,
    maxOutput: 1_000,
    memory: null,
    maxTime: 50,
    limits: { usd: 5, tokens: null, turns: 3 },
  }
  const supervision = { maxTime: null, maxOutput: 5_000, memory: 7_000, limits: { usd: 9, turns: 1 } }
  expect((await prepare({ ...RECORD, session }, { supervision })).prepared.request.supervision).toMatchObject({
    maxOutput: 1_000,
    memory: 7_000,
    maxTime: 50,
    limits: { usd: 5, turns: 1 },
  })
})
