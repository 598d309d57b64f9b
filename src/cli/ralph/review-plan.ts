import path from 'node:path'
import type { LoopView } from '../../api/contract/loop-view.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { followLog } from '../../views/log.ts'
import { readBoard, watchBoard, workersOf } from '../../views/loops.ts'
import { readSessions } from '../../views/sessions.ts'
import { waysToAnswer } from '../../views/way-on.ts'
import type { Home } from '../../world/os/home.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { INTERRUPTED, look } from '../look.ts'
import { confirm, confirmOrEdit } from '../screen/ask.ts'
import { openInEditor } from '../screen/editor.ts'
import type { Outlet } from '../screen/outlet.ts'
import { exitStatusOf } from '../session/exit-status.ts'
import { stateLine } from '../session/state.ts'
import type { Surroundings } from '../surroundings.ts'
import { planLines } from './plan-lines.ts'
import { presentLoop } from './start-loop.ts'

/** Follows the planning, shows the plan, and starts it once a person agrees. The plan waits for a person who leaves. */
export async function reviewPlan(session: SessionView, line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const { err } = screen
  err.say(`${err.paint.bold(session.name)}  is planning  (Ctrl-C leaves it running)`)
  const glance = await look({ outlet: err }, signal => untilPlanned(home, session, err, signal))
  if (glance.ended !== 'by-itself') {
    err.say(`\nplanning continues; look at it with: oneshot ralph status ${session.name}`)
    err.say(`start the plan when it is ready: oneshot resume ${session.name}`)
    return INTERRUPTED
  }
  const planned = glance.value
  if (planned.phase !== 'blocked' || planned.trouble !== 'review') {
    err.say(stateLine(planned, err.paint) + (planned.phase === 'blocked' ? ` (${waysToAnswer(planned)})` : ''))
    return planned.phase === 'ended' ? exitStatusOf(planned) : 1
  }
  const board = readBoard(home, planned, Date.now())
  for (const text of planLines(board, err)) err.say(text)
  if (!(await isAgreed(board, surroundings))) {
    err.say(`\nthe plan waits: edit ${board?.list ?? 'it'} if you like, then oneshot resume ${session.name}`)
    err.say(`or end it here: oneshot stop ${session.name}`)
    return 0
  }
  const client = await ensureDaemon(home)
  return await presentLoop(await client.resume(planned.id), line, surroundings)
}

/** Asks until the answer is yes or no; the plan can be edited in between. */
async function isAgreed(board: LoopView | undefined, { env, screen }: Surroundings): Promise<boolean> {
  const list = board?.list ?? null
  if (board === undefined || list === null) return await confirm('Start?')
  for (;;) {
    const answer = await confirmOrEdit('Start?')
    if (answer !== 'edit') return answer === 'yes'
    await openInEditor(path.resolve(board.cwd, list), env)
    screen.err.say(`the loop reads ${list} again when it starts`)
  }
}

/** Shows what those who plan say, until there is a plan or an end of it. */
async function untilPlanned(home: Home, session: SessionView, err: Outlet, signal: AbortSignal): Promise<SessionView> {
  const shown = new Map<string, Promise<void>>()
  const over = new AbortController()
  const both = AbortSignal.any([signal, over.signal])
  let latest = session
  for await (const { session: now } of watchBoard(home, session, signal)) {
    latest = now
    for (const planner of workersOf(now, readSessions(home)))
      if (!shown.has(planner.id)) shown.set(planner.id, pourLog(home, planner, err, both))
    if (now.phase === 'blocked' || now.phase === 'ended') break
  }
  over.abort()
  await Promise.all(shown.values())
  return latest
}

async function pourLog(home: Home, planner: SessionView, err: Outlet, signal: AbortSignal): Promise<void> {
  const options = { raw: false, colour: err.isColoured }
  for await (const bytes of followLog(home, planner, options, signal)) await err.pour(bytes)
}
