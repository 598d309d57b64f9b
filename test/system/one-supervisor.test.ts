import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { run } from '../../src/world/os/run.ts'
import { readEvents, readOne } from '../../src/world/store/read.ts'
import { House, isAlive, MAIN, until } from './house.ts'

let house: House
beforeEach(() => {
  house = new House()
})
afterEach(() => house.close())

it('a second supervisor is refused with a sentence that names the first', async () => {
  await house.ok('daemon', 'start')
  const { pid, epoch } = await house.daemon()
  const second = await run(process.execPath, [MAIN, '__daemon'], { env: house.env, timeout: 20_000 })
  expect(second.code).toBe(6)
  expect(second.stdout).toContain(`a supervisor is already running: pid ${pid}, epoch ${epoch}`)
  expect(await house.daemon()).toMatchObject({ pid, epoch })
})

it('many that start at once leave exactly one', async () => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => house.run('--headless', '--', 'sh', '-c', 'exit 0')),
  )
  expect(new Set(answers.map(answer => answer.name)).size).toBe(6)
  await until('the others have left', () => (supervisors().length === 1 ? true : undefined))
  expect(await house.list()).toHaveLength(6)
})

function supervisors(): string[] {
  return fs
    .readdirSync('/proc')
    .filter(pid => /^\d+$/.test(pid))
    .filter(pid => {
      try {
        const isDaemon = fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('__daemon')
        return isDaemon && fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(house.root)
      } catch {
        return false // It has ended meanwhile.
      }
    })
}

it('one that was suspended while another took over does nothing when it wakes up', async () => {
  const session = await house.run(
    '--name',
    'long',
    '--headless',
    '--',
    'sh',
    '-c',
    'while [ ! -e go ]; do sleep 0.05; done; exit 5',
  )
  const old = await house.daemon()
  process.kill(old.pid, 'SIGSTOP')
  try {
    await house.ok('daemon', 'start')
    const now = await house.daemon()
    expect(now.epoch).toBe(old.epoch + 1)
    expect(now.pid).not.toBe(old.pid)
    expect(await house.status('long')).toMatchObject({ phase: 'running', pid: session.pid })
    fs.writeFileSync(path.join(house.project, 'go'), '')
    expect(await house.ended('long')).toMatchObject({ outcome: 'failed', exitCode: 5 })
    const recorded = (): unknown => ({
      session: readOne(house.home, session.id),
      events: readEvents(house.home, session.id),
    })
    const before = recorded()
    process.kill(old.pid, 'SIGCONT')
    await until('the old one has left', () => (isAlive(old.pid) ? undefined : true))
    // The file itself may differ: SQLite moves what the new supervisor wrote from the log into it at any time.
    expect(recorded()).toEqual(before)
    expect(await house.daemon()).toMatchObject({ pid: now.pid, epoch: now.epoch })
  } finally {
    if (isAlive(old.pid)) process.kill(old.pid, 'SIGCONT')
  }
})
