import { spawn } from 'node:child_process'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { readSessionEvents } from '../../src/views/read-session.ts'
import { attemptId } from '../../src/state/session-folder.ts'
import { FolderWatch } from '../measure/folder-watch.ts'
import { statsOf } from '../measure/stats.ts'
import { waitUntil } from '../measure/wait-until.ts'
import { waitForExit } from '../peers/wait-for-exit.ts'
import type { Fleet } from '../product/fleet.ts'
import { type Aim, milliseconds, type Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'

const SOON: Aim = { of: 'ours', is: 'at most', limit: 5 }
const PATIENCE = 10_000

/**
 * Measures the time from `kill -9` of a headless agent until the supervisor knows. The supervisor's event gives its
 * time in whole milliseconds. The supervisor removes the mailbox entry of the exit after it has stored the exit on
 * disk, and inotify reports that removal with a finer resolution.
 */
export async function exitDetection(context: BenchContext): Promise<Row[]> {
  const rounds = context.rounds(200, 10)
  const fleet = await (await context.fleet('death')).growTo(rounds)
  const mailbox = new FolderWatch(fleet.home.home.mailbox)
  const samples = { known: [] as number[], recorded: [] as number[], parent: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const { known, recorded } = await killOurs(fleet, mailbox)
    samples.known.push(known)
    samples.recorded.push(recorded)
    samples.parent.push(await killChild(context))
  }
  mailbox.close()
  const parent = { name: 'exit event in a Node parent', theirs: milliseconds(statsOf(samples.parent)) }
  return [
    { figure: 'agent dead → known', ours: milliseconds(statsOf(samples.known)), beside: parent, aim: SOON },
    {
      figure: 'agent dead → known and on disk',
      ours: milliseconds(statsOf(samples.recorded)),
      beside: parent,
      aim: SOON,
    },
  ]
}

async function killOurs(fleet: Fleet, mailbox: FolderWatch): Promise<{ known: number; recorded: number }> {
  const session = fleet.take()
  const gone = mailbox.gone(`${attemptId(session.id, 1)}.exit`, PATIENCE)
  const killedAt = Date.now()
  const killed = performance.now()
  process.kill(session.pid as number, 'SIGKILL')
  const recorded = (await gone) - killed
  return { known: (await endedAt(fleet, session)) - killedAt, recorded }
}

async function endedAt({ home }: Fleet, session: SessionView): Promise<number> {
  const at = await waitUntil('the event is there', () => {
    return readSessionEvents(home.home, session.id).find(event => event.type === 'attempt.ended')?.at
  })
  await home.ended(session.id) // The cleanup of this session must not disturb the next.
  return Date.parse(at)
}

/** The minimum for a supervisor on Node: its own child dies and libuv reports it. */
async function killChild({ clone }: BenchContext): Promise<number> {
  const child = spawn('sleep', ['100000'], { env: clone.env, stdio: 'ignore' })
  await new Promise(resolve => child.once('spawn', resolve))
  const killed = performance.now()
  process.kill(child.pid as number, 'SIGKILL')
  await waitForExit(child)
  return performance.now() - killed
}
