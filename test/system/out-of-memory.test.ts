import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TestHome, waitUntil } from './test-home.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

/** Returns a control group with a memory limit; undefined if the system permits none. */
function narrowGroup(): string | undefined {
  const group = path.join('/sys/fs/cgroup/memory', `os-${path.basename(testHome.root)}`)
  try {
    fs.mkdirSync(group)
    fs.writeFileSync(path.join(group, 'memory.limit_in_bytes'), '60000000')
    return group
  } catch {
    return undefined
  }
}

it('the supervisor distinguishes a program that the kernel ended for lack of memory from a killed one', async ({
  skip,
}) => {
  const group = narrowGroup()
  if (group === undefined) return skip('no control group with a memory limit may be made here')
  testHome.defer(async () => fs.rmdirSync(group))
  const { pid } = await testHome.run('--name', 'killed', '--headless', '--', 'sleep', '1000')
  process.kill(pid as number, 'SIGKILL')
  expect(await testHome.ended('killed')).toMatchObject({ trouble: 'crash', reason: 'killed by SIGKILL' })
  const eater = `const a = []; setInterval(() => a.push(Buffer.alloc(10e6, 1)), 20)`
  const script = `echo $$ >${group}/cgroup.procs && exec ${process.execPath} -e '${eater}'`
  await testHome.run('--name', 'eater', '--headless', '--', 'sh', '-c', script)
  expect(await testHome.ended('eater')).toMatchObject({
    outcome: 'failed',
    trouble: 'memory',
    signal: 'SIGKILL',
    reason: 'out of memory: killed by SIGKILL, the kernel has just ended a process because there was too little',
  })
  await waitUntil('the group is empty', () =>
    fs.readFileSync(path.join(group, 'cgroup.procs'), 'utf8') === '' ? true : undefined,
  )
})
