import { expect, test } from 'vitest'
import { run } from './run.ts'

const sh = (script: string, timeout?: number): ReturnType<typeof run> =>
  run('sh', ['-c', script], timeout === undefined ? {} : { timeout })

test('a program’s exit is an answer, with all it said', async () => {
  expect(await sh('echo out; echo err >&2; exit 3')).toEqual({
    code: 3,
    signal: null,
    stdout: 'out\n',
    stderr: 'err\n',
  })
  expect((await sh('head -c 3000000 /dev/zero')).stdout).toHaveLength(3_000_000)
  expect(await run('cat', [], { input: Buffer.from('in') })).toMatchObject({ code: 0, stdout: 'in' })
})

test('one that takes too long is killed', async () => {
  expect(await sh('echo begun; exec sleep 100', 300)).toMatchObject({
    code: null,
    signal: 'SIGKILL',
    stdout: 'begun\n',
  })
})

test('what it leaves running with its output open is not waited for', async () => {
  const { code, stdout } = await sh('sleep 100 & echo $!')
  process.kill(Number(stdout), 'SIGKILL')
  expect(code).toBe(0)
})

test('one that is called off ends with what it has started', async () => {
  const calledOff = new AbortController()
  const running = run('sh', ['-c', 'sleep 1000 & echo $!; wait'], { signal: calledOff.signal })
  setImmediate(() => calledOff.abort())
  expect(await running).toMatchObject({ code: null, signal: 'SIGKILL' })
})

test('all of its output arrives, however long we were kept from reading it', async () => {
  const running = run('sh', ['-c', 'head -c 60000 /dev/zero'])
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200))
  expect((await running).stdout).toHaveLength(60_000)
})

test('one that cannot be started is an error', async () => {
  await expect(run('/nowhere/at-all', [])).rejects.toThrow('ENOENT')
})
