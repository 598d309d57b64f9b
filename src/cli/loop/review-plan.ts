import fs from 'node:fs'
import path from 'node:path'
import type { LoopView } from '../../api/contract/loop-view.ts'
import { truncateToWidth } from '../../lib/text/display-width.ts'
import { renderTerminalText } from '../../lib/text/strip-terminal-controls.ts'
import type { Output } from '../terminal/output.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { followLog } from '../../views/output-log.ts'
import { readBoard, watchBoard } from '../../views/loop/read-board.ts'
import { readWorkers } from '../../views/session-search.ts'
import { describeAnswer } from '../../views/describe-session.ts'
import type { Home } from '../../state/home.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import { confirmDefaultYes, confirmOrEdit } from '../terminal/confirm.ts'
import { openInEditor } from '../terminal/open-in-editor.ts'
import { exitStatusFor, stateLine } from '../session/format-session.ts'
import type { CommandContext } from '../context.ts'
import { presentLoop } from './start-loop.ts'

/** The lines above and below the plan: its name, the number of omitted lines, the question, and empty lines. */
const SURROUNDING_LINES = 6
/** Fewer lines would not be useful. */
const MIN_PLAN_LINES = 6

/** Shows the plan as its file has it, as much as fits on the screen. */
export function planLines(
  board: LoopView | undefined,
  { paint, width, height }: Pick<Output, 'paint' | 'width' | 'height'>,
): string[] {
  const tasks = board?.tasks ?? []
  const name = board?.list ?? 'the plan'
  const text = readPlan(board) ?? tasks.map(({ id, title }) => `${id}  ${title}`).join('\n')
  const lines = renderTerminalText(text, { colour: false }).trim().split('\n')
  const shown = lines.slice(0, Math.max(MIN_PLAN_LINES, height - SURROUNDING_LINES))
  const rest = lines.length - shown.length
  return [
    '',
    paint.bold(`${name}: ${tasks.length === 1 ? '1 task' : `${tasks.length} tasks`}`),
    ...shown.map(line => truncateToWidth(`  ${line}`, width)),
    ...(rest === 0 ? [] : [paint.dim(`  … ${rest} more ${rest === 1 ? 'line' : 'lines'} in ${name}`)]),
    '',
  ]
}

function readPlan(board: LoopView | undefined): string | null {
  if (board === undefined || board.list === null) return null
  try {
    return fs.readFileSync(path.resolve(board.cwd, board.list), 'utf8')
  } catch {
    return null // The file was just moved: the titles are known.
  }
}

/** Follows the planning, shows the plan, and starts it once a person agrees. If the person leaves, the plan waits. */
export async function reviewPlan(session: SessionView, args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const { err } = screen
  err.printLine(`${err.paint.bold(session.name)}  is planning  (Ctrl-C leaves it running)`)
  const outcome = await untilInterrupted(screen, { outlet: err }, signal => waitForPlan(home, session, err, signal))
  if (outcome.ended !== 'by-itself') {
    err.printLine(`\nplanning continues; look at it with: oneshot ralph status ${session.name}`)
    err.printLine(`start the plan when it is ready: oneshot resume ${session.name}`)
    return INTERRUPTED
  }
  const planned = outcome.value
  if (planned.phase !== 'blocked' || planned.trouble !== 'review') {
    err.printLine(stateLine(planned, err.paint) + (planned.phase === 'blocked' ? ` (${describeAnswer(planned)})` : ''))
    return planned.phase === 'ended' ? exitStatusFor(planned) : 1
  }
  const board = readBoard(home, planned, Date.now())
  for (const text of planLines(board, err)) err.printLine(text)
  if (!(await confirmPlan(board, context))) {
    err.printLine(`\nthe plan waits: edit ${board?.list ?? 'it'} if you like, then oneshot resume ${session.name}`)
    err.printLine(`or end it here: oneshot stop ${session.name}`)
    return 0
  }
  const client = await ensureDaemon(context)
  return await presentLoop(await client.resume(planned.id), args, context)
}

/** Asks until the answer is yes or no; the person can edit the plan in between. */
async function confirmPlan(board: LoopView | undefined, context: CommandContext): Promise<boolean> {
  const { screen } = context
  const list = board?.list ?? null
  if (board === undefined || list === null) return await confirmDefaultYes('Start?', screen)
  for (;;) {
    const answer = await confirmOrEdit('Start?', screen)
    if (answer !== 'edit') return answer === 'yes'
    await openInEditor(path.resolve(board.cwd, list), context)
    screen.err.printLine(`the loop reads ${list} again when it starts`)
  }
}

/** Shows the output of the planners until there is a plan or the planning has ended. */
async function waitForPlan(home: Home, session: SessionView, err: Output, signal: AbortSignal): Promise<SessionView> {
  const logs = new Map<string, Promise<void>>()
  const planningDone = new AbortController()
  const anyAbort = AbortSignal.any([signal, planningDone.signal])
  let latest = session
  for await (const { session: now } of watchBoard(home, session, signal)) {
    latest = now
    for (const planner of readWorkers(home, now))
      if (!logs.has(planner.id)) logs.set(planner.id, printLog(home, planner, err, anyAbort))
    if (now.phase === 'blocked' || now.phase === 'ended') break
  }
  planningDone.abort()
  await Promise.all(logs.values())
  return latest
}

async function printLog(home: Home, planner: SessionView, err: Output, signal: AbortSignal): Promise<void> {
  const options = { raw: false, colour: err.isColoured }
  for await (const bytes of followLog(home, planner, options, signal)) await err.write(bytes)
}
