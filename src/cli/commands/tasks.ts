import type { TasksRequest } from '../../api/contract/requests.ts'
import type { SessionView, TaskView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { readSessions } from '../../views/sessions.ts'
import { readTasks } from '../../views/tasks.ts'
import { attemptOfLetter } from '../../world/os/folders.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Outlet } from '../screen/outlet.ts'
import type { Shade } from '../screen/paint.ts'
import { type Column, renderTable } from '../screen/table.ts'
import { choose } from '../session/pick-session.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { orderOf } from '../tasks/order-of.ts'
import { shownName } from '../session/state.ts'

export async function tasks(line: Line, surroundings: Surroundings): Promise<number> {
  const { name, request } = orderOf(line.words)
  const session = sessionMeant(name, surroundings)
  if (request !== undefined) return await change(session, request, line, surroundings)
  const { home, screen } = surroundings
  const { out, err } = screen
  const all = readTasks(home, session.id)
  if (line.has(OPTIONS.json)) out.say(toJson(all))
  else if (screen.isQuiet) for (const { id } of all) out.say(id)
  else if (all.length === 0)
    err.say(`${shownName(session)} has no tasks; oneshot tasks ${shownName(session)} add "…" names one`)
  else show(all, line, out)
  return 0
}

/** Within a session that one is meant, whatever directory we are in. */
function sessionMeant(name: string | undefined, { home, env }: Surroundings): SessionView {
  const sessions = readSessions(home)
  const { sessionId } = attemptOfLetter(env['ONESHOT_ATTEMPT'] ?? '')
  const own = name === undefined ? sessions.find(({ id }) => id === sessionId) : undefined
  return own ?? choose(sessions, name, () => true)
}

/** Piped, only the ids are printed: those that were given to new tasks, or those that were changed. */
async function change(
  session: SessionView,
  request: TasksRequest,
  line: Line,
  { home, screen }: Surroundings,
): Promise<number> {
  const { out, isQuiet } = screen
  const before = readTasks(home, session.id).map(({ id }) => id)
  const all = await (await ensureDaemon(home)).tasks(session.id, request)
  const isMeant = ({ id, source }: TaskView): boolean =>
    request.action === 'add' ? source === 'user' && !before.includes(id) : request.ids.includes(id)
  const changed = all.filter(isMeant)
  if (line.has(OPTIONS.json)) out.say(toJson(all))
  else if (isQuiet || !out.isTerminal) for (const { id } of changed) out.say(id)
  else for (const task of changed) out.say(`${stateOf(task, out)} ${task.id}: ${oneLine(task.title)}`)
  return 0
}

function show(all: readonly TaskView[], line: Line, out: Outlet): void {
  const isCut = out.isTerminal && !line.has(OPTIONS.noTrunc)
  const width = isCut ? out.width : Number.POSITIVE_INFINITY
  out.say(renderTable(columnsFor(out), all, { headers: !line.has(OPTIONS.noHeaders), width }).join('\n'))
}

const LOOKS: { readonly [S in TaskView['state']]: { readonly symbol: string; readonly shade: Shade } } = {
  open: { symbol: '◌', shade: 'cyan' },
  doing: { symbol: '◔', shade: 'yellow' },
  done: { symbol: '✔', shade: 'green' },
}

function columnsFor(out: Outlet): Column<TaskView>[] {
  return [
    { header: 'STATE', text: labelOf, paint: (text, { state }) => out.paint[LOOKS[state].shade](text) },
    { header: 'ID', text: ({ id }) => oneLine(id) },
    { header: 'SOURCE', text: ({ source }) => source },
    { header: 'TITLE', text: ({ title }) => oneLine(title) },
  ]
}

function stateOf(task: TaskView, out: Outlet): string {
  return out.paint[LOOKS[task.state].shade](labelOf(task))
}

function labelOf({ state }: TaskView): string {
  return `${LOOKS[state].symbol} ${state}`
}
