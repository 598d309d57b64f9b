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
  const how = { isSquash: line.has(OPTIONS.squash), isDry: line.has(OPTIONS.dryRun) }
  const landed = await hooks.landLoop(home, loop.id, how)
  if (line.has(OPTIONS.json)) screen.out.say(toJson(landed))
  else if (!screen.isQuiet) for (const text of describe(landed, screen.out.paint)) screen.out.say(text)
  return 0
}

function describe(
  { branch, into, commit, isForward, isNews, tasks, marked, kept, isDryRun }: LandedView,
  paint: Paint,
): string[] {
  const many = tasks.length === 1 ? '1 task' : `${tasks.length} tasks`
  const where = into ?? 'what is checked out'
  if (!isNews && marked === 0) return [`${paint.green('✔ landed already')}: all of ${branch} is in ${where}`]
  const how = isForward ? 'moved on to' : 'merged as'
  const done = isDryRun ? paint.dim('would land') : paint.green('✔ landed')
  const width = Math.max(...tasks.map(({ id }) => id.length))
  return [
    `${done} ${many} in ${where}: ${branch}${isDryRun ? '' : `, ${how} ${commit.slice(0, 10)}`}`,
    ...tasks.map(({ id, title }) => `  ${paint.dim(id.padStart(width))}  ${oneLine(title)}`),
    ...(marked === 0 ? [] : [`  ${marked} ${marked === 1 ? 'box' : 'boxes'} ticked`]),
    ...(isDryRun ? [`  to look at it: git diff HEAD...${branch}`] : []),
    ...(kept === null ? [] : [paint.dim(`  its branch and worktree stay: ${kept}`)]),
  ]
}
