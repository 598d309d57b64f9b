import type { LandedView } from '../../api/contract/loop-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Paint } from '../screen/paint.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { pickLoop } from './pick-loop.ts'

/** Brings what a loop has merged into what the user has checked out. */
export async function land(line: Line, surroundings: Surroundings, word: string | undefined): Promise<number> {
  const { home, hooks, screen } = surroundings
  const loop = pickLoop(surroundings, word)
  const landed = await hooks.landLoop(home, loop.id)
  if (line.has(OPTIONS.json)) screen.out.say(toJson(landed))
  else if (!screen.isQuiet) for (const text of describe(landed, screen.out.paint)) screen.out.say(text)
  return 0
}

function describe(
  { branch, into, commit, isForward, isNews, tasks, marked, kept }: LandedView,
  paint: Paint,
): string[] {
  const many = tasks.length === 1 ? '1 task' : `${tasks.length} tasks`
  const where = into ?? 'what is checked out'
  if (!isNews && marked === 0) return [`${paint.green('✔ landed already')}: all of ${branch} is in ${where}`]
  const how = isForward ? 'moved on to' : 'merged as'
  const width = Math.max(...tasks.map(({ id }) => id.length))
  return [
    `${paint.green('✔ landed')} ${many} in ${where}: ${branch}, ${how} ${commit.slice(0, 10)}`,
    ...tasks.map(({ id, title }) => `  ${paint.dim(id.padStart(width))}  ${oneLine(title)}`),
    ...(marked === 0 ? [] : [`  ${marked} ${marked === 1 ? 'box' : 'boxes'} ticked`]),
    ...(kept === null ? [] : [paint.dim(`  its branch and worktree stay: ${kept}`)]),
  ]
}
