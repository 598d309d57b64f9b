import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import { type AttemptFolder, attemptFolder } from './session-folder.ts'
import { homeAt } from './home.ts'
import { readClaim, readExit, readShim, readStarted } from './shim-records.ts'

let root: string
let folder: AttemptFolder
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-spool-'))
  folder = attemptFolder(homeAt(root), testSessionId('aaaaaaaaaa'), 1)
  fs.mkdirSync(folder.root, { recursive: true })
})
afterEach(() => fs.rmSync(root, { recursive: true }))

test('a missing record reads as null', () => {
  expect([readClaim(folder), readStarted(folder), readExit(folder)]).toEqual([null, null, null])
})

test('a record whose writer was killed halfway does not count', () => {
  const whole = '4242 12345 boot-id\nend\n'
  for (let length = 0; length < whole.length - 1; length++) {
    fs.writeFileSync(folder.started, whole.slice(0, length))
    expect(readStarted(folder), whole.slice(0, length)).toBeNull()
  }
  fs.writeFileSync(folder.started, whole)
  expect(readStarted(folder)).toMatchObject({ pid: 4242, birth: '12345', boot: 'boot-id' })
})

test('a birth may contain spaces, as `ps` writes it', () => {
  fs.writeFileSync(folder.claim, '7 Sun Nov 15 10:30:37 2026\nend\n')
  fs.writeFileSync(folder.started, '8 Sun Nov 15 10:30:37 2026 unknown\nend\n')
  expect(readClaim(folder)).toEqual({ pid: 7, birth: 'Sun Nov 15 10:30:37 2026' })
  expect(readStarted(folder)).toMatchObject({ pid: 8, birth: 'Sun Nov 15 10:30:37 2026', boot: 'unknown' })
})

test('readShim accepts only a control group of its own session: a sweep ends everything in it', () => {
  const groupIn = (group: string): string | null | undefined => {
    fs.writeFileSync(folder.claim, `7 8\nshim\n${group}\nend\n`)
    return readShim(folder)?.group
  }
  const own = '/sys/fs/cgroup/user.slice/oneshot-aaaaaaaaaa.1'
  expect(groupIn(own)).toBe(own)
  for (const group of [
    '',
    '/sys/fs/cgroup',
    '/sys/fs/cgroup/user.slice',
    '/sys/fs/cgroup/oneshot-bbbbbbbbbb.1',
    '/sys/fs/cgroup/oneshot-aaaaaaaaaa.1/..',
    '/sys/fs/cgroup/../cgroup/oneshot-aaaaaaaaaa.1',
    'oneshot-aaaaaaaaaa.1',
  ])
    expect(groupIn(group), group).toBeNull()
})

test.each([
  ['kind ended\nstatus 0\nsignalled no\nend\n', { kind: 'ended', exit: { kind: 'code', code: 0 } }],
  ['kind ended\nstatus 137\nsignalled no\nend\n', { kind: 'ended', exit: { kind: 'code', code: 137 } }],
  ['kind ended\nstatus 137\nsignalled yes\nend\n', { kind: 'ended', exit: { kind: 'signal', signal: 'SIGKILL' } }],
  ['kind ended\nstatus 130\nsignalled yes\nend\n', { kind: 'ended', exit: { kind: 'signal', signal: 'SIGINT' } }],
  ['kind ended\nstatus 255\nsignalled yes\nend\n', { kind: 'ended', exit: { kind: 'code', code: 255 } }],
  [
    'kind refused\nstatus 0\nsignalled no\nend\n',
    { kind: 'refused', reason: 'something of the attempt before is still alive' },
  ],
  ['kind busy\nstatus 0\nsignalled no\nend\n', { kind: 'refused', reason: 'another session uses its thread now' }],
  ['kind ended\nstatus 0\nsignalled no\n', null],
])('%j means %j', (text, record) => {
  fs.writeFileSync(folder.exit, text)
  expect(readExit(folder)).toEqual(record)
})
