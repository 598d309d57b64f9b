import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TestHome, isAlive, kill, MAIN, waitUntil } from '../system/test-home.ts'
import { attackSize } from './attack-size.ts'

let house: TestHome
beforeEach(() => {
  house = new TestHome()
})
afterEach(() => house.close())

const KEEPER = path.join(path.dirname(MAIN), 'keeper.sh')

function keeper(): ChildProcess {
  const argv = [KEEPER, house.home.root, process.execPath, MAIN]
  return spawn('sh', argv, { detached: true, stdio: 'ignore', cwd: '/', env: house.env })
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null
const named = (): number => Number(fs.readFileSync(house.home.keeperPid, 'latin1'))
const parentOf = (pid: number): number => Number(fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ')[3])

it('one of two keepers that start together ends, and keeper.pid names the other', { timeout: 900_000 }, async () => {
  await house.ok('daemon', 'start')
  for (let round = 1; round <= attackSize(4, 60); round++) {
    await house.ok('daemon', 'stop')
    fs.rmSync(house.home.downMarker)
    const both = [keeper(), keeper()]
    await waitUntil('one keeper has left', () => both.filter(hasEnded).length === 1 || undefined)
    const [left] = both.filter(one => !hasEnded(one))
    const { pid } = await waitUntil('a supervisor answers', () => house.daemon().catch(() => undefined))
    expect({ round, keeper: named(), parent: parentOf(pid) }).toEqual({ round, keeper: left?.pid, parent: left?.pid })
  }
})

it('a supervisor starts another keeper when somebody kills its keeper, even after a superfluous keeper ran', async () => {
  await house.ok('daemon', 'start')
  const superfluous = keeper()
  await waitUntil('the superfluous keeper has left', () => hasEnded(superfluous) || undefined)
  const first = named()
  kill(first)
  await waitUntil('there is another keeper', () => {
    const now = named()
    return (now !== first && isAlive(now)) || undefined
  })
})

it('all keepers but one end when their supervisors cannot start', { tags: ['extended'] }, async () => {
  await house.ok('daemon', 'start')
  await house.ok('daemon', 'stop')
  fs.rmSync(house.home.downMarker)
  const program = house.path('broken.cjs')
  fs.writeFileSync(program, 'process.exit(1)\n')
  const argv = [KEEPER, house.home.root, process.execPath, program]
  const many = Array.from({ length: 4 }, () => spawn('sh', argv, { detached: true, stdio: 'ignore', env: house.env }))
  await waitUntil('one of them is left', () => many.filter(hasEnded).length === 3 || undefined)
  fs.writeFileSync(house.home.downMarker, '')
  await waitUntil('the last one has left', () => many.every(hasEnded) || undefined)
})
