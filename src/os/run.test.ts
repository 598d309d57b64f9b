import fs from 'node:fs'
import { expect, test } from 'vitest'
import { tempFolder } from '../../testkit/agents/temp-folder.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { readParentPid } from './process/processes.ts'
import { run } from './run.ts'

const sh = (script: string, timeout?: number): ReturnType<typeof run> =>
  run('sh', ['-c', script], timeout === undefined ? {} : { timeout })

test('run returns the exit and all output of a program', async () => {
  expect(await sh('echo out; echo err >&2; exit 3')).toEqual({
    code: 3,
    signal: null,
    stdout: 'out\n',
    stderr: 'err\n',
  })
  expect((await sh('head -c 3000000 /dev/zero')).stdout).toHaveLength(3_000_000)
  expect(await run('cat', [], { input: Buffer.from('in') })).toMatchObject({ code: 0, stdout: 'in' })
})

test('run kills a program after the timeout', async () => {
  expect(await sh('echo begun; exec sleep 100', 300)).toMatchObject({
    code: null,
    signal: 'SIGKILL',
    stdout: 'begun\n',
  })
})

test('run does not wait for background processes that keep the output open', async () => {
  const { code, stdout } = await sh('sleep 100 & echo $!')
  process.kill(Number(stdout), 'SIGKILL')
  expect(code).toBe(0)
})

test('an abort kills the program and all processes that it has started', async () => {
  const ending = new AbortController()
  const file = `${tempFolder()}/pid`
  const ended = run('sh', ['-c', 'sleep 100 & echo $! >"$1"; wait', 'sh', file], { signal: ending.signal })
  await waitUntil('it has started something', () => fs.existsSync(file) && fs.readFileSync(file, 'utf8').endsWith('\n'))
  ending.abort()
  expect(await ended).toMatchObject({ code: null, signal: 'SIGKILL' })
  const pid = Number(fs.readFileSync(file, 'utf8'))
  await waitUntil('it is gone', () => readParentPid(pid) === undefined)
  expect(await run('sleep', ['100'], { signal: ending.signal })).toMatchObject({ code: null, signal: 'SIGKILL' })
})

test('run kills a program that writes more than the limit', async () => {
  const { signal, stdout } = await run('yes', [], { most: 100_000 })
  expect(signal).toBe('SIGKILL')
  expect(stdout.length).toBeLessThanOrEqual(100_000)
})

test('run collects all output, even after the event loop was blocked', async () => {
  const running = run('sh', ['-c', 'head -c 60000 /dev/zero'])
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200))
  expect((await running).stdout).toHaveLength(60_000)
})

test('run rejects if the program cannot be started', async () => {
  await expect(run('/nowhere/at-all', [])).rejects.toThrow('ENOENT')
})
