import { withAttempt } from '../../core/session/attempt.ts'
import { expect, test } from 'vitest'
import { createSession } from '../../core/session/create.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Signal } from '../../core/session/signals.ts'
import { makeSpec } from '../../../testkit/in-memory/simulation.ts'
import { VirtualClock } from '../../../testkit/in-memory/virtual-clock.ts'
import { OutputMonitor } from './output-limit-monitor.ts'

const GB = 1024 ** 3

/** Returns a disk with sessions that may each write 1 GB. */
function startMonitor(ids: readonly string[]) {
  const clock = new VirtualClock()
  const written = new Map(ids.map(id => [id, 0]))
  const reported: [id: string, type: Signal['type']][] = []
  const disk = { free: 100 * GB, looks: 0 }
  const runtime = {
    freeSpace: () => disk.free,
    outputSize: ({ sessionId }: { sessionId: string }) => {
      disk.looks++
      return written.get(sessionId) ?? 0
    },
  }
  const context = { clock, runtime, onTrouble: (_: string, cause: unknown) => expect.fail(String(cause)) }
  const monitor = new OutputMonitor(context as never, async (id, { type }) => void reported.push([id, type]))
  for (const id of ids) monitor.onSessionChanged(sessionAtWork(id))
  const write = (id: string, bytes: number): void => {
    written.set(id, (written.get(id) ?? 0) + bytes)
    disk.free -= bytes
  }
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(1_000)
      monitor.check()
    }
  }
  return { disk, reported, write, pass }
}

function sessionAtWork(id: string): Session {
  const { session } = createSession(makeSpec({ agent: 'mute', id, supervision: { maxOutput: GB } }), {
    hasPrompt: false,
  })
  const process = { pid: 1, birth: '1', boot: 'this boot', startedAt: 0 }
  return { ...withAttempt(session, { process }), phase: { name: 'running', since: 0 } }
}

test('the monitor reads the files of 200 silent sessions once per minute', async () => {
  const { pass, disk } = startMonitor(Array.from({ length: 200 }, (_, index) => `s${index}`))
  await pass(1)
  disk.looks = 0
  await pass(60)
  expect(disk.looks).toBe(200)
})

test('the monitor warns and stops a session that writes fast within a second, independent of other sessions', async () => {
  const { pass, reported, write } = startMonitor(['quiet', 'fast'])
  await pass(1)
  write('fast', 0.9 * GB)
  await pass(1)
  expect(reported).toEqual([['fast', 'trouble.noted']])
  write('fast', 0.1 * GB)
  await pass(1)
  expect(reported).toEqual([
    ['fast', 'trouble.noted'],
    ['fast', 'output.exceeded'],
  ])
})

test('the monitor stops a session that writes little by little at its limit, although others free some room now and then', async () => {
  const { pass, disk, reported, write } = startMonitor(['slow'])
  for (let total = 0; total < GB; total += GB / 256) {
    write('slow', GB / 256)
    await pass(1)
    if (total % (GB / 8) === 0) disk.free += GB
    await pass(1)
  }
  expect(reported.at(-1)).toEqual(['slow', 'output.exceeded'])
})

test('the monitor also stops a session that writes while others free as much', async () => {
  const { pass, disk, reported, write } = startMonitor(['hidden'])
  await pass(1)
  write('hidden', GB)
  disk.free += GB
  await pass(60)
  expect(reported.at(-1)).toEqual(['hidden', 'output.exceeded'])
})
