import { expect, test } from 'vitest'
import type { Agent } from '../ports/agent.ts'
import { MemoryCheckpoints, MemoryRepository } from '../testkit/memory/memory-checkpoints.ts'
import { specOf } from '../testkit/memory/stage.ts'
import { estateOf } from './estate.ts'
import { readRecord, renamed } from './estate-record.ts'

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

/** What is left of a session of which this was written down. */
async function left(record: unknown, run: { autonomy?: 'full' | 'edits' | 'ask' } = {}) {
  const repository = new MemoryRepository()
  const checkpoints = new MemoryCheckpoints({ repository })
  const keeping = { cwd: '/here', sessionId: 'there', name: 'claude-far' }
  const text = JSON.stringify(record)
  const occasion = { trigger: 'edit', attempt: 1, at: 0, record: text, isRecordNews: false, isVisible: false } as const
  await checkpoints.save(keeping, occasion)
  const request = { sessionId: 'there', name: 'claude-far', run: { cwd: '/here', env: {}, maxTime: null, ...run } }
  return { estate: await estateOf(request, { checkpoints, agents }) }
}

test('no argument from elsewhere is handed to a program, and it is told', async () => {
  const { estate } = await left(RECORD)
  expect(estate.request).toMatchObject({ agent: 'claude', argv: [], autonomy: 'full', model: 'opus' })
  expect(estate.outlook.found.join()).toContain('arguments, which are not taken over from elsewhere: --mcp-config')
})

test('it may do what both it and its user here allow', async () => {
  expect((await left(RECORD, { autonomy: 'edits' })).estate.request.autonomy).toBe('edits')
  const modest = { ...RECORD, session: { ...RECORD.session, autonomy: 'ask' } }
  expect((await left(modest, { autonomy: 'full' })).estate.request.autonomy).toBe('ask')
})

test.each([
  ['a command', { agent: 'command', argv: ['rm', '-rf', '/'] }, /is not started twice/],
  ['an unknown agent', { agent: 'somebody' }, /not known here/],
  ['a model that is an option', { model: '--settings=x' }, /cannot be read/],
])('%s is refused', async (_, wishes, says) => {
  await expect(left({ ...RECORD, session: { ...RECORD.session, ...wishes } })).rejects.toThrow(says)
})

test('the session that goes on with it tells the same from its first moment, by its own name', () => {
  const spec = specOf({ agent: 'talker', id: 's2', name: 'claude-far-2', task: 'far-2', cwd: '/here' })
  const record = readRecord(renamed(JSON.stringify(RECORD), spec))
  expect(record).toMatchObject({ goal: ['do it'], session: { name: 'claude-far-2', task: 'far-2', agent: 'claude' } })
  expect(JSON.parse(renamed(JSON.stringify(RECORD), spec))).toMatchObject({ session: { id: 's2', cwd: '/here' } })
})
