import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { readBoard } from '../../src/views/loop/read-board.ts'
import { readWorkers } from '../../src/views/session-search.ts'
import { readSession } from '../../src/views/read-session.ts'
import { run } from '../../src/os/run.ts'
import { TestHome, isAlive, kill, waitUntil } from './test-home.ts'
import { installScriptedAgent } from './scripted-agent.ts'

let testHome: TestHome
let agent: ReturnType<typeof installScriptedAgent>
beforeEach(async () => {
  testHome = new TestHome({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
  agent = installScriptedAgent(testHome)
  await git('init', '-q', '-b', 'main', '.')
  await git('config', 'user.name', 'n')
  await git('config', 'user.email', 'e@x')
})
afterEach(() => testHome.close())

async function git(...args: string[]): Promise<void> {
  const { code, stderr } = await run('git', args, { cwd: testHome.project, env: testHome.env })
  expect({ code, stderr: code === 0 ? '' : stderr }, `git ${args.join(' ')}`).toEqual({ code: 0, stderr: '' })
}

/** A list of these tasks in a project whose check waits while `$GATE.hold` is there, and leaves word that it does. */
async function project(...titles: string[]): Promise<void> {
  fs.writeFileSync(testHome.path('PRD.md'), titles.map(title => `- [ ] ${title}\n`).join(''))
  const check =
    '\t@if [ -e "$(GATE).hold" ]; then : > "$(GATE).held"; while [ -e "$(GATE).hold" ]; do sleep 0.02; done; fi'
  fs.writeFileSync(testHome.path('Makefile'), `test:\n${check}\n`)
  await git('add', '.')
  await git('commit', '-qm', 'first')
}

const workers = (loop: SessionView): SessionView[] => readWorkers(testHome.home, loop)
const keeperPid = (): number => Number(fs.readFileSync(path.join(testHome.home.root, 'keeper.pid'), 'utf8'))

describe('a loop', () => {
  it('continues with its workers after each kill of the supervisor during a resume', {
    tags: ['extended'],
  }, async () => {
    await project('make it [slow a.txt]', 'make it [slow b.txt]', 'make it [good c.txt]')
    const loop = await testHome.json<SessionView>('ralph', '--agent', 'codex', '--parallel', '2')
    await waitUntil('both are at work', () => (agent.tempers().length >= 2 ? true : undefined), 60_000)
    for (let round = 0; round < 3; round++) {
      await testHome.ok('stop', loop.name)
      await testHome.ended(loop.name)
      const supervisor = await testHome.daemon()
      await testHome.ok('resume', loop.name)
      await waitUntil('a worker is resumed', () => workers(loop).find(({ phase }) => phase !== 'ended'))
      kill(supervisor.pid)
      await waitUntil('both work again', () =>
        workers(loop).filter(({ phase }) => phase === 'running').length === 2 ? true : undefined,
      )
    }
    fs.writeFileSync(agent.gate, '')
    const { outcome, reason } = await testHome.ended(loop.name, 60_000)
    expect({ outcome, reason }).toEqual({ outcome: 'done', reason: '3 of 3 tasks done and proven' })
    // The agents of a and b were started afresh by each resume, and the task was worked on once.
    expect(
      readBoard(testHome.home, await testHome.status(loop.name), Date.now())?.tasks.map(({ tries }) => tries),
    ).toEqual([1, 1, 1])
  })

  it('restarts a killed supervisor and keeper while no worker lives, and shows no task as working meanwhile', async () => {
    await project('make it [good a.txt]', 'make it [good b.txt]')
    fs.writeFileSync(`${agent.gate}.hold`, '')
    const loop = await testHome.json<SessionView>('ralph', '--agent', 'codex')
    await waitUntil('the check of the first task runs', () => (fs.existsSync(`${agent.gate}.held`) ? true : undefined))
    const supervisor = await testHome.daemon()
    const keeper = keeperPid()
    kill(keeper)
    kill(supervisor.pid)
    fs.rmSync(`${agent.gate}.hold`)
    const lies: string[] = []
    const ended = await waitUntil(
      'the loop has ended',
      () => {
        const session = readSession(testHome.home, loop.id)
        if (session === undefined || session.phase === 'ended') return session
        const before = workers(loop)
        const tasks = readBoard(testHome.home, session, Date.now())?.tasks ?? []
        const seen = [...before, ...workers(loop)]
        const isLiving = (name: string | null): boolean => seen.some(one => one.name === name && one.pid !== null)
        lies.push(...tasks.filter(task => task.state === 'working' && !isLiving(task.session)).map(({ id }) => id))
        return undefined
      },
      45_000,
    )
    expect({ outcome: ended.outcome, lies }).toEqual({ outcome: 'done', lies: [] })
    expect(agent.tempers()).toEqual(['a.txt good', 'b.txt good'])
    const now = await testHome.daemon()
    expect(now.pid).not.toBe(supervisor.pid)
    expect(isAlive(keeperPid())).toBe(true)
  })
})
