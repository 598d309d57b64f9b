import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/session-view.ts'
import { readBoard, workersOf } from '../../src/views/loops.ts'
import { readSession, readSessions } from '../../src/views/sessions.ts'
import { run } from '../../src/world/os/run.ts'
import { House, isAlive, kill, until } from './house.ts'
import { temperedAgent } from './tempered-agent.ts'

let house: House
let agent: ReturnType<typeof temperedAgent>
beforeEach(async () => {
  house = new House({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
  agent = temperedAgent(house)
  await git('init', '-q', '-b', 'main', '.')
  await git('config', 'user.name', 'n')
  await git('config', 'user.email', 'e@x')
})
afterEach(() => house.close())

async function git(...args: string[]): Promise<void> {
  const { code, stderr } = await run('git', args, { cwd: house.project, env: house.env })
  expect({ code, stderr: code === 0 ? '' : stderr }, `git ${args.join(' ')}`).toEqual({ code: 0, stderr: '' })
}

/** A list of these tasks in a project whose check waits while `$GATE.hold` is there, and leaves word that it does. */
async function project(...titles: string[]): Promise<void> {
  fs.writeFileSync(house.path('PRD.md'), titles.map(title => `- [ ] ${title}\n`).join(''))
  const check =
    '\t@if [ -e "$(GATE).hold" ]; then : > "$(GATE).held"; while [ -e "$(GATE).hold" ]; do sleep 0.02; done; fi'
  fs.writeFileSync(house.path('Makefile'), `test:\n${check}\n`)
  await git('add', '.')
  await git('commit', '-qm', 'first')
}

const workers = (loop: SessionView): SessionView[] => workersOf(loop, readSessions(house.home))
const keeperPid = (): number => Number(fs.readFileSync(path.join(house.home.root, 'keeper.pid'), 'utf8'))

describe('a loop whose supervisor is killed', () => {
  it('while it resumes the workers goes on with them, as often as that happens', async () => {
    await project('make it [slow a.txt]', 'make it [slow b.txt]', 'make it [good c.txt]')
    const loop = await house.json<SessionView>('ralph', '--agent', 'codex', '--parallel', '2')
    await until('both are at work', () => (agent.tempers().length >= 2 ? true : undefined), 60_000)
    for (let round = 0; round < 3; round++) {
      await house.ok('stop', loop.name)
      await house.ended(loop.name)
      const supervisor = await house.daemon()
      await house.ok('resume', loop.name)
      await until('a worker is resumed', () => workers(loop).find(({ phase }) => phase !== 'ended'))
      kill(supervisor.pid)
      await until('both work again', () =>
        workers(loop).filter(({ phase }) => phase === 'running').length === 2 ? true : undefined,
      )
    }
    fs.writeFileSync(agent.gate, '')
    const { outcome, reason } = await house.ended(loop.name, 60_000)
    expect({ outcome, reason }).toEqual({ outcome: 'done', reason: '3 of 3 tasks done and proven' })
    // The agents of a and b were started afresh by each resume, and the task was worked on once.
    expect(readBoard(house.home, await house.status(loop.name), Date.now())?.tasks.map(({ tries }) => tries)).toEqual([
      1, 1, 1,
    ])
  })

  it('together with its keeper while no worker lives starts both again, and calls nobody working meanwhile', async () => {
    await project('make it [good a.txt]', 'make it [good b.txt]')
    fs.writeFileSync(`${agent.gate}.hold`, '')
    const loop = await house.json<SessionView>('ralph', '--agent', 'codex')
    await until('the check of the first task runs', () => (fs.existsSync(`${agent.gate}.held`) ? true : undefined))
    const supervisor = await house.daemon()
    const keeper = keeperPid()
    kill(keeper)
    kill(supervisor.pid)
    fs.rmSync(`${agent.gate}.hold`)
    const lies: string[] = []
    const ended = await until(
      'the loop has ended',
      () => {
        const session = readSession(house.home, loop.id)
        if (session === undefined || session.phase === 'ended') return session
        const before = workers(loop)
        const tasks = readBoard(house.home, session, Date.now())?.tasks ?? []
        const seen = [...before, ...workers(loop)]
        const isLiving = (name: string | null): boolean => seen.some(one => one.name === name && one.pid !== null)
        lies.push(...tasks.filter(task => task.state === 'working' && !isLiving(task.session)).map(({ id }) => id))
        return undefined
      },
      45_000,
    )
    expect({ outcome: ended.outcome, lies }).toEqual({ outcome: 'done', lies: [] })
    expect(agent.tempers()).toEqual(['a.txt good', 'b.txt good'])
    const now = await house.daemon()
    expect(now.pid).not.toBe(supervisor.pid)
    expect(isAlive(keeperPid())).toBe(true)
  })
})
