import { describe, expect, test } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import type { Script } from '../../testkit/model/script.ts'
import { runArguments, KINDS } from './kit/kinds.ts'
import { useAgentTest } from './kit/agent-test.ts'
import type { Kind } from './kit/programs.ts'

const stage = useAgentTest()

async function outcomeOf(kind: Kind, script: Script, ...options: string[]): Promise<SessionView & { log: string }> {
  const testHome = stage.openHome(kind, script)
  const { name } = await testHome.run(...runArguments(kind), '--name', 'lie', ...options, 'Do it.')
  const session = await testHome.ended(name)
  return { ...session, log: await testHome.ok('log', name) }
}

describe.each(KINDS)('%s', kind => {
  test('fails if it ends its turn without a word', async () => {
    const session = await outcomeOf(kind, [{ say: '', times: 'ever' }])
    expect(session.outcome, session.log).toBe('failed')
    expect(session.reason).toContain('without a result')
  })

  test('fails if the model refuses its request', async () => {
    const session = await outcomeOf(kind, [{ status: 400, message: 'no such thing', times: 'ever' }])
    expect(session.outcome, session.log).toBe('failed')
  })
})

describe.each(KINDS.filter(kind => kind.startsWith('claude')))('%s', kind => {
  test('fails if all its tools were refused, although it reports success and exits with 0', async () => {
    const session = await outcomeOf(kind, [{ shell: 'touch forbidden' }, { say: 'I did it.' }], '--autonomy', 'ask')
    expect(session, session.log).toMatchObject({ outcome: 'failed', exitCode: 0 })
    expect(session.reason).toContain('refused a tool')
  })
})

describe.each(KINDS.filter(kind => kind === 'codex'))('%s', kind => {
  test('fails if its sandbox forbade it to write, although it exits with 0', async () => {
    const session = await outcomeOf(kind, [{ shell: 'touch forbidden' }, { say: 'I did it.' }], '--autonomy', 'ask')
    expect(session, session.log).toMatchObject({ outcome: 'failed', exitCode: 0 })
  })
})

describe.each(KINDS.filter(kind => kind === 'opencode'))('%s', kind => {
  test('fails if a tool outside its project was refused', async () => {
    const script: Script = [{ shell: 'cat /etc/hostname' }, { shell: 'ls /usr/..' }, { say: 'I did it.' }]
    const session = await outcomeOf(kind, script, '--autonomy', 'ask')
    expect(session.outcome, session.log).toBe('failed')
  })
})
