import type { CheckpointView } from '../../api/contract/session-view.ts'
import { readCheckpoints } from '../../views/checkpoints.ts'
import type { Line } from '../line/line.ts'
import { type Whose, whose } from '../restore/whose.ts'
import { toJson } from '../screen/json.ts'
import type { Outlet } from '../screen/outlet.ts'
import { type Column, renderTable } from '../screen/table.ts'
import { relative } from '../screen/when.ts'
import { changeOf, leftOut } from '../session/change-of.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function checkpoints(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const { out, err } = screen
  const session = await whose(line.words[0], undefined, surroundings)
  const whole = await readCheckpoints(home, session)
  const all = lastOf(whole, line)
  if (line.has(OPTIONS.json)) out.say(toJson(all))
  else if (screen.isQuiet) for (const { number } of all) out.say(String(number))
  else if (whole.length === 0) err.say(`${session.name} has no checkpoints yet`)
  else if (all.length > 0) show(all, line, out)
  if (out.isTerminal && all.length > 0 && !line.has(OPTIONS.json)) err.say(err.paint.dim(nextSteps(session, all)))
  return 0
}

function lastOf(all: readonly CheckpointView[], line: Line): readonly CheckpointView[] {
  const lines = line.value(OPTIONS.lines)
  return lines === undefined || lines === 'all' ? all : lines === 0 ? [] : all.slice(-lines)
}

function show(all: readonly CheckpointView[], line: Line, out: Outlet): void {
  const isCut = out.isTerminal && !line.has(OPTIONS.noTrunc)
  const width = isCut ? out.width : Number.POSITIVE_INFINITY
  out.say(renderTable(columnsFor(out), all, { headers: !line.has(OPTIONS.noHeaders), width }).join('\n'))
}

function columnsFor(out: Outlet): Column<CheckpointView>[] {
  const now = Date.now()
  return [
    { header: 'NO', text: ({ number }) => String(number) },
    { header: 'WHEN', text: ({ at }) => (out.isTerminal ? relative(at, now) : at) },
    { header: 'TRIGGER', text: ({ trigger }) => trigger },
    { header: 'COMMIT', text: ({ commit }) => commit.slice(0, 10), paint: text => out.paint.dim(text) },
    { header: 'CHANGE', text: checkpoint => [changeOf(checkpoint), ...checkpoint.leftOut.map(leftOut)].join('; ') },
  ]
}

function nextSteps({ name, push = null }: Whose, all: readonly CheckpointView[]): string {
  const { number } = all.at(-1) as CheckpointView
  const pushed =
    push === null
      ? []
      : [push.number === null ? `nothing is on ${push.remote} yet` : `on ${push.remote}: up to ${push.number}`]
  return [...pushed, `see what changed: oneshot diff ${name}   restore one: oneshot restore ${name}@${number}`].join(
    '\n',
  )
}
