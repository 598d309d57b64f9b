import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { create } from '../core/create.ts'
import type { Session } from '../core/session.ts'
import { specOf } from '../testkit/memory/stage.ts'
import { type TempHome, tempHome } from '../testkit/real/temp-home.ts'
import { until } from '../testkit/real/until.ts'
import { attemptFolder } from '../world/os/folders.ts'
import { bootId, identify } from '../world/os/processes.ts'
import { pulseOf } from './pulse.ts'

const ID = 'aaaaaaaaaa'
let temp: TempHome
beforeEach(() => {
  temp = tempHome()
  fs.mkdirSync(attemptFolder(temp.home, ID, 1).root, { recursive: true })
})
afterEach(() => temp.noLeaks())

const newborn = (): Session => create(specOf({ agent: 'mute', id: ID }), { hasPrompt: false }).session

test('what has no process yet has no pulse', () => {
  expect(pulseOf(newborn(), temp.home, null)).toEqual({
    pid: null,
    isAlive: false,
    cpu: null,
    written: 0,
    writtenAt: null,
  })
})

test('a process tells what it has used, until it is gone', async () => {
  const child = spawn('sh', ['-c', 'while :; do :; done'])
  const pid = child.pid ?? 0
  const life = { pid, birth: identify(pid)?.birth ?? '', boot: bootId, startedAt: 1 }
  const session: Session = { ...newborn(), life }
  const { stdout, stderr } = attemptFolder(temp.home, ID, 1)
  fs.writeFileSync(stdout, 'hello')
  fs.writeFileSync(stderr, 'oh')
  fs.utimesSync(stdout, 5, 5)
  fs.utimesSync(stderr, 7, 7)
  await until('it has computed', () => (pulseOf(session, temp.home, null).cpu ?? 0) >= 20)
  expect(pulseOf(session, temp.home, null)).toMatchObject({ pid, isAlive: true, written: 7, writtenAt: 7_000 })
  const group = path.join(temp.home.root, 'group')
  fs.mkdirSync(group)
  fs.writeFileSync(path.join(group, 'cpu.stat'), 'usage_usec 1234000\nuser_usec 1000000\n')
  expect(pulseOf(session, temp.home, group).cpu).toBe(1_234)
  expect(pulseOf(session, temp.home, '/nowhere').cpu).toBeGreaterThanOrEqual(20)
  for (const other of [{ birth: '1' }, { boot: 'another' }])
    expect(pulseOf({ ...session, life: { ...life, ...other } }, temp.home, null)).toMatchObject({
      isAlive: false,
      cpu: null,
    })
  child.kill('SIGKILL')
  await until('it is gone', () => !pulseOf(session, temp.home, group).isAlive)
  expect(pulseOf(session, temp.home, group)).toMatchObject({ pid, cpu: null, written: 7 })
})
