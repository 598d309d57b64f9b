import { testSessionId } from '../../testkit/core/ids.ts'
import { withAttempt } from '../core/session/attempt.ts'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSession } from '../core/session/create.ts'
import type { Session } from '../core/session/session-state.ts'
import { makeSpec } from '../../testkit/in-memory/simulation.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { attemptFolder } from '../state/session-folder.ts'
import { bootId, identifyProcess } from '../os/process/processes.ts'
import { readHeartbeatStats } from './process-stats.ts'

const ID = testSessionId('aaaaaaaaaa')
let temp: TempHome
beforeEach(() => {
  temp = tempHome()
  fs.mkdirSync(attemptFolder(temp.home, ID, 1).root, { recursive: true })
})
afterEach(() => temp.assertNoLeaks())

const newSession = (): Session => createSession(makeSpec({ agent: 'mute', id: ID }), { hasPrompt: false }).session

test('a session without a process has empty statistics', () => {
  expect(readHeartbeatStats(newSession(), temp.home, null)).toEqual({
    pid: null,
    isAlive: false,
    cpu: null,
    written: 0,
    writtenAt: null,
  })
})

test('the statistics show the usage of a process until it is gone', async () => {
  const child = spawn('sh', ['-c', 'while :; do :; done'])
  const pid = child.pid ?? 0
  const identity = { pid, birth: identifyProcess(pid)?.birth ?? '', boot: bootId, startedAt: 1 }
  const session = withAttempt(newSession(), { process: identity })
  const { stdout, stderr } = attemptFolder(temp.home, ID, 1)
  fs.writeFileSync(stdout, 'hello')
  fs.writeFileSync(stderr, 'oh')
  fs.utimesSync(stdout, 5, 5)
  fs.utimesSync(stderr, 7, 7)
  await waitUntil('it has computed', () => (readHeartbeatStats(session, temp.home, null).cpu ?? 0) >= 20)
  expect(readHeartbeatStats(session, temp.home, null)).toMatchObject({
    pid,
    isAlive: true,
    written: 7,
    writtenAt: 7_000,
  })
  const group = path.join(temp.home.root, 'group')
  fs.mkdirSync(group)
  fs.writeFileSync(path.join(group, 'cpu.stat'), 'usage_usec 1234000\nuser_usec 1000000\n')
  expect(readHeartbeatStats(session, temp.home, group).cpu).toBe(1_234)
  expect(readHeartbeatStats(session, temp.home, '/nowhere').cpu).toBeGreaterThanOrEqual(20)
  for (const other of [{ birth: '1' }, { boot: 'another' }])
    expect(
      readHeartbeatStats(withAttempt(session, { process: { ...identity, ...other } }), temp.home, null),
    ).toMatchObject({
      isAlive: false,
      cpu: null,
    })
  child.kill('SIGKILL')
  await waitUntil('it is gone', () => !readHeartbeatStats(session, temp.home, group).isAlive)
  expect(readHeartbeatStats(session, temp.home, group)).toMatchObject({ pid, cpu: null, written: 7 })
})
