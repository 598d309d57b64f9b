import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { endOrphanProcesses, markerFor } from './orphan-processes.ts'

async function start(marker: string): Promise<ChildProcess> {
  const child = spawn('sleep', ['1000'], { env: { ...process.env, ONESHOT_ATTEMPT: marker }, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child
}

test('the supervisor ends only git processes of a killed supervisor of the same home', async () => {
  const home = `/home/${process.pid}`
  const left = await start(`${markerFor(home)}0`)
  const ours = await start(markerFor(home))
  const others = await start(markerFor('/elsewhere'))
  const ended = once(left, 'exit')
  expect(await endOrphanProcesses(home)).toBe(1)
  expect(await ended).toEqual([null, 'SIGTERM'])
  expect([ours, others].map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([null, null])
})
