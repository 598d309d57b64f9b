import { setTimeout as pause } from 'node:timers/promises'
import { attemptId } from '../../src/state/session-folder.ts'
import { FolderWatch } from '../measure/folder-watch.ts'
import { isAlive } from '../measure/proc.ts'
import { statsOf } from '../measure/stats.ts'
import { timeCommand } from '../measure/time-command.ts'
import { waitUntil } from '../measure/wait-until.ts'
import { Pm2 } from '../peers/pm2.ts'
import type { Fleet } from '../product/fleet.ts'
import { type Measured, milliseconds, type Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'

const SESSIONS = 200
const PATIENCE = 20_000
/** Milliseconds: the keeper restarts a supervisor without delay after it has run for five whole seconds. */
const LIFE = 7_000

/**
 * Measures the time from `kill -9` of the supervisor until a new one answers for all 200 sessions and notices the death
 * of one.
 */
export async function recovery(context: BenchContext): Promise<Row[]> {
  const fleet = await (await context.fleet('fleet')).growTo(SESSIONS)
  const answering: number[] = []
  const noticing: number[] = []
  for (let round = 0; round < context.rounds(5, 1); round++) {
    await pause(LIFE - (Date.now() - Date.parse((await fleet.home.daemon()).startedAt)))
    const { answered, noticed } = await killDaemon(fleet)
    answering.push(answered)
    noticing.push(noticed)
    await assertAllLive(context, fleet)
    await fleet.growTo(SESSIONS)
  }
  const theirs = await resurrection(context)
  return [
    {
      figure: `supervisor killed → it answers for ${SESSIONS} sessions`,
      ours: milliseconds(statsOf(answering)),
      beside: { name: 'pm2 killed → pm2 resurrect', theirs },
      aim: { of: 'ours', is: 'at most', limit: 150 },
    },
    {
      figure: '… and notices the next death',
      ours: milliseconds(statsOf(noticing)),
      aim: { of: 'ours', is: 'at most', limit: 1_000 },
    },
  ]
}

async function killDaemon(fleet: Fleet): Promise<{ answered: number; noticed: number }> {
  const { home } = fleet
  const before = await home.daemon()
  const mailbox = new FolderWatch(home.home.mailbox)
  const killed = performance.now()
  process.kill(before.pid, 'SIGKILL')
  await waitUntil(
    'a new supervisor answers for all',
    async () => {
      const after = await home.daemon().catch(() => undefined)
      return after !== undefined && after.epoch > before.epoch && after.sessions.live === SESSIONS ? after : undefined
    },
    { patience: PATIENCE, every: 2 },
  )
  const answered = performance.now() - killed
  const probe = fleet.take()
  const gone = mailbox.gone(`${attemptId(probe.id, 1)}.exit`, PATIENCE)
  process.kill(probe.pid as number, 'SIGKILL')
  const noticed = (await gone) - killed
  mailbox.close()
  await home.ended(probe.id)
  return { answered, noticed }
}

/** Checks that every other agent is still the same process and that the supervisor knows it. */
async function assertAllLive(context: BenchContext, fleet: Fleet): Promise<void> {
  const views = new Map((await fleet.home.sessions()).map(view => [view.id, view]))
  for (const { id, name, pid } of fleet.sessions) {
    const view = views.get(id)
    const isKept = view?.phase === 'running' && view.pid === pid && view.restarts === 0 && isAlive(pid as number)
    if (!isKept) context.broken.push(`${name} was lost: pid ${pid} before, now ${view?.phase ?? 'unknown'}`)
  }
}

/** pm2 does not find its programs again: it starts each of them once more beside the living one. */
async function resurrection(context: BenchContext): Promise<Measured | { notMeasured: string }> {
  const pm2 = await context.pm2('pm2-fleet')
  if (!(pm2 instanceof Pm2)) return pm2
  pm2.growTo(SESSIONS).do('save')
  process.kill(pm2.daemon(), 'SIGKILL')
  const took = timeCommand(pm2.command('resurrect'))
  const copies = pm2.survivors().length / SESSIONS
  return { value: took, unit: 'ms', more: `${copies} copies of each` }
}
