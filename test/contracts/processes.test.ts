import { type ChildProcess, spawn } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { processesOf } from '../../testkit/system/process-list.ts'
import { endProcessTree, findProcessTree, type ProcessTree } from '../../src/os/process/tree.ts'
import {
  findInterruptGroup,
  identifyProcess,
  isSuspended,
  checkLiveness,
  type ProcessId,
  processTable,
  signalProcess,
  selectTree,
} from '../../src/os/process/processes.ts'

let marker: string
let started: ChildProcess[]
beforeEach(() => {
  marker = `${crypto.randomBytes(5).toString('hex')}.1`
  started = []
})
afterEach(async () => {
  await endProcessTree({ marker, root: null }, { grace: 0, limit: 5_000 })
  for (const child of started) child.kill('SIGKILL')
  expect(processesOf(marker)).toEqual([])
})

/** A shell that carries the marker, once it has said that it is ready. */
async function shell(script: string): Promise<ProcessId> {
  const env = { PATH: process.env['PATH'], ONESHOT_ATTEMPT: marker }
  const child = spawn('/bin/sh', ['-c', script], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  started.push(child)
  let said = ''
  child.stdout.on('data', chunk => {
    said += chunk
  })
  await waitUntil('it is ready', () => said.includes('ready'))
  const found = identifyProcess(child.pid ?? 0)
  if (found === undefined) throw new Error('it has ended')
  return found
}

const rows = async (tree: ProcessTree): Promise<number> => (await findProcessTree(tree)).length

test('checkLiveness calls a process alive, and dead once it is gone or a zombie', async () => {
  const root = await shell('echo ready; exec sleep 1000')
  expect(checkLiveness(root)).toBe('alive')
  expect(signalProcess(root, 'SIGKILL')).toBe(true)
  await waitUntil('it is dead', () => checkLiveness(root) === 'dead')
  expect(signalProcess(root, 'SIGKILL')).toBe(false)
  expect(identifyProcess(2 ** 22 + 1)).toBeUndefined()
})

test('checkLiveness does not confuse a process with an earlier one of the same pid', async () => {
  const root = await shell('echo ready; exec sleep 1000')
  const other = { ...root, birth: '1' }
  expect(checkLiveness(other)).toBe('dead')
  expect(signalProcess(other, 'SIGKILL')).toBe(false)
  await endProcessTree({ marker: 'nobody', root: other }, { grace: 0, limit: 1_000 })
  expect(checkLiveness(root)).toBe('alive')
})

test('a suspended process counts as suspended and alive', async () => {
  const root = await shell('echo ready; exec sleep 1000')
  expect(isSuspended(root.pid)).toBe(false)
  signalProcess(root, 'SIGSTOP')
  await waitUntil('it is suspended', () => isSuspended(root.pid))
  expect(checkLiveness(root)).toBe('alive')
  expect(isSuspended(2 ** 22 + 1)).toBe(false)
})

test('process names with spaces and brackets do not confuse the process table', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-odd-'))
  const odd = path.join(folder, 'os-x) R 1 1 (y')
  fs.copyFileSync('/bin/sleep', odd)
  fs.chmodSync(odd, 0o755)
  try {
    const root = await shell(`echo ready; exec '${odd}' 1000`)
    await waitUntil('it has its name', () => fs.readFileSync(`/proc/${root.pid}/comm`, 'utf8').startsWith('os-x)'))
    expect(checkLiveness(root)).toBe('alive')
    const table = await processTable()
    expect(table.find(row => row.pid === root.pid)).toMatchObject({ birth: root.birth, parent: process.pid, marker })
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})

test('a process tree contains its root, the descendants, the processes of its session and those with its marker', async () => {
  const root = await shell(
    `env -i sleep 1000 & setsid sleep 1001 & (env -i sleep 1002 &) ; (setsid sleep 1003 &) ; echo ready; wait`,
  )
  await waitUntil('all are there', async () => (await rows({ marker, root })) === 5)
  const [first] = (await findProcessTree({ marker, root })).reverse()
  expect(first?.pid, 'leaves come first, the root last').toBe(root.pid)
  await endProcessTree({ marker, root }, { grace: 1_000, limit: 5_000 })
  expect(await rows({ marker, root })).toBe(0)
})

test('endProcessTree lets a process end by itself, and kills a deaf one after the grace time', async () => {
  const polite = await shell(`trap 'exit 0' TERM; echo ready; while :; do sleep 0.02; done`)
  await endProcessTree({ marker, root: polite }, { grace: 5_000, limit: 9_000 })
  const deaf = await shell(`trap '' TERM; echo ready; while :; do sleep 0.02; done`)
  const begun = Date.now()
  await endProcessTree({ marker, root: deaf }, { grace: 200, limit: 9_000 })
  expect(Date.now() - begun).toBeGreaterThanOrEqual(200)
  expect([checkLiveness(polite), checkLiveness(deaf)]).toEqual(['dead', 'dead'])
})

test('endProcessTree also ends processes that appear meanwhile', async () => {
  const root = await shell(
    `trap 'setsid sleep 1000 & setsid sleep 1001 & exit' TERM; echo ready; while :; do sleep 0.02; done`,
  )
  await endProcessTree({ marker, root }, { grace: 2_000, limit: 9_000 })
  expect(await rows({ marker, root: null })).toBe(0)
})

test('endProcessTree names the processes that it cannot end within the given time', async () => {
  const { pid } = await shell('echo ready; exec sleep 1000')
  await expect(endProcessTree({ marker, root: null }, { grace: 60_000, limit: -1 })).rejects.toThrow(
    `${pid} cannot be ended`,
  )
})

test('findInterruptGroup returns the group of a program without a terminal', async () => {
  const root = await shell('echo ready; exec sleep 1000')
  expect(findInterruptGroup(root.pid)).toBe(root.pid)
})

test('selectTree finds the children below every root once', () => {
  const row = (pid: number, parent: number) => ({ pid, parent, birth: 'b', session: 0, marker: null })
  const table = [row(1, 0), row(2, 1), row(3, 2), row(4, 1), row(5, 9), row(6, 5)]
  expect(selectTree(table, ({ pid }) => pid === 2 || pid === 3 || pid === 5).map(({ pid }) => pid)).toEqual([
    2, 3, 5, 6,
  ])
})
