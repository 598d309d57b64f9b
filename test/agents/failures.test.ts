import { describe, expect, test } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { userMessages } from '../../testkit/model/requests.ts'
import type { Answer, Script } from '../../testkit/model/script.ts'
import { waitUntil } from '../system/test-home.ts'
import { runArguments, KINDS } from './kit/kinds.ts'
import { useAgentTest } from './kit/agent-test.ts'
import type { Kind } from './kit/programs.ts'

/** The programs try again by themselves for minutes; those that can be told not to are. */
const IMPATIENT = { CLAUDE_CODE_MAX_RETRIES: '0' }

const stage = useAgentTest()

async function begin(kind: Kind, script: Script): Promise<string> {
  const testHome = stage.openHome(kind, script)
  Object.assign(testHome.env, IMPATIENT)
  return (await stage.home.run(...runArguments(kind), '--name', 'fail', 'Do it.')).name
}

async function comesTo(name: string, phase: SessionView['phase']): Promise<SessionView & { log: string }> {
  const session = await waitUntil(
    `${name} is ${phase}`,
    async () => {
      const view = await stage.home.status(name)
      if (view.phase === 'ended' && phase !== 'ended')
        throw new Error(`it ended: ${view.reason}\n${await stage.home.ok('log', name)}`)
      return view.phase === phase ? view : undefined
    },
    180_000,
  )
  return { ...session, log: await stage.home.ok('log', name) }
}

const always = (answer: Answer): Script => [{ ...answer, times: 'ever' }]

describe.each(KINDS)('%s', kind => {
  test('without a login waits for its user, and continues after the login and oneshot resume', async () => {
    const name = await begin(kind, always({ status: 401, message: 'invalid key' }))
    const blocked = await comesTo(name, 'blocked')
    expect(blocked.reason, blocked.log).toMatch(/not logged in/)
    expect(blocked.pid).toBeNull()
    stage.server.play('main', [{ say: 'Now it works.' }])
    await stage.home.ok('resume', name)
    const ended = await comesTo(name, 'ended')
    expect(ended.outcome, ended.log).toBe('done')
    const last = stage.server.main('main').at(-1)
    expect(last && userMessages(last).filter(text => text.trim() === 'Do it.')).toHaveLength(1)
  })

  test('rests at a usage limit, and oneshot counts no crash', async () => {
    const resetAt = Math.round(Date.now() / 1000) + 3_600
    const name = await begin(kind, always({ status: 429, message: 'rate limit', resetAt }))
    const resting = await comesTo(name, 'resting')
    expect(resting.reason, resting.log).toContain('usage limit')
    expect(resting.restarts).toBe(0)
    expect(Date.parse(resting.until ?? '')).toBeGreaterThan(Date.now())
    if (kind === 'codex') expect(Date.parse(resting.until ?? '')).toBeGreaterThan((resetAt - 60) * 1_000)
  })

  test('tries again later if the model is overloaded', async () => {
    const name = await begin(kind, always({ status: 529, message: 'Overloaded' }))
    const resting = await comesTo(name, 'resting')
    expect(resting.reason, resting.log).toContain('report a problem')
    stage.server.play('main', [{ say: 'Now it works.' }])
    const ended = await comesTo(name, 'ended')
    expect(ended, ended.log).toMatchObject({ outcome: 'done', restarts: 0 })
  })

  test('continues when a lost connection is back', async () => {
    const name = await begin(kind, always({ drop: true }))
    const resting = await comesTo(name, 'resting')
    expect(resting.reason, resting.log).toMatch(/no connection|report a problem/)
    stage.server.play('main', [{ say: 'Now it works.' }])
    const ended = await comesTo(name, 'ended')
    expect(ended, ended.log).toMatchObject({ outcome: 'done', restarts: 0 })
  })

  test('is ended if its model falls silent, and finishes its work in the same conversation', async () => {
    const testHome = stage.openHome(kind, [
      { say: 'First I look.', shell: 'echo looked' },
      { hang: true, times: 'ever' },
    ])
    Object.assign(testHome.env, IMPATIENT)
    const silence = kind === 'opencode' ? '25s' : '12s' // A loaded machine takes it as long to start.
    const { name } = await testHome.run(...runArguments(kind), '--name', 'fail', '--silence', silence, 'Do it.')
    await stage.server.until('main', turns => turns.length >= 2, 120_000)
    const story = await waitUntil(
      'it was found silent',
      async () => {
        const told = await testHome.ok('events', name)
        return told.includes('silent for') ? told : undefined
      },
      180_000,
    )
    expect(story).toMatch(/silent for [^:]+: no output(, nothing new in its conversation)?, no CPU in \d+ process/)
    stage.server.play('main', [{ say: 'Now it works.' }])
    const ended = await comesTo(name, 'ended')
    expect(ended.outcome, ended.log).toBe('done')
    const last = stage.server.main('main').at(-1)
    expect(last && userMessages(last).filter(text => text.trim() === 'Do it.')).toHaveLength(1)
  })

  test('continues an overlong conversation in a new one that knows the earlier work', async () => {
    const name = await begin(kind, [
      { say: 'First I look.', shell: 'echo looked' },
      { overflow: true, times: 'ever' },
    ])
    await stage.server.until('main', turns => turns.length >= 2, 120_000)
    await waitUntil(
      'it was given up',
      async () => {
        const log = await stage.home.ok('log', name)
        return log.includes('a new thread continues') ? log : undefined
      },
      180_000,
    )
    stage.server.play('main', [{ say: 'All done now.' }])
    const ended = await comesTo(name, 'ended')
    expect(ended.outcome, ended.log).toBe('done')
    const last = stage.server.main('main').at(-1)
    const [digest, ...rest] = last === undefined ? [] : userMessages(last)
    expect(rest, digest ?? '').toEqual([])
    for (const words of ['You take over', 'Do it.', 'First I look.']) expect(digest).toContain(words)
  })
})
