import type { LandedView } from '../../api/contract/loop-view.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { Paint } from '../terminal/colors.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { pickLoop } from './find-loop.ts'

/** Merges the loop's commits into the branch that the user has checked out. */
export async function landCommand(
  args: ParsedArgs,
  context: CommandContext,
  word: string | undefined,
): Promise<number> {
  const { home, hooks, screen } = context
  const loop = pickLoop(context, word)
  const options = { isSquash: args.has(OPTIONS.squash), isDry: args.has(OPTIONS.dryRun) }
  const landing = await hooks.landLoop(home, loop.id, options)
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(landing))
  else if (!screen.isQuiet) for (const text of describeLanding(landing, screen.out.paint)) screen.out.printLine(text)
  return 0
}

function describeLanding(
  { branch, into, commit, isForward, isNews, tasks, marked, kept, isDryRun }: LandedView,
  paint: Paint,
): string[] {
  const many = tasks.length === 1 ? '1 task' : `${tasks.length} tasks`
  const where = into ?? 'HEAD (no branch is checked out)'
  if (!isNews && marked === 0) return [`${paint.green('✔ landed already')}: all of ${branch} is in ${where}`]
  const how = isForward ? 'moved on to' : 'merged as'
  const done = isDryRun ? paint.dim('would land') : paint.green('✔ landed')
  const width = Math.max(...tasks.map(({ id }) => id.length))
  return [
    `${done} ${many} in ${where}: ${branch}${isDryRun ? '' : `, ${how} ${commit.slice(0, 10)}`}`,
    ...tasks.map(({ id, title }) => `  ${paint.dim(id.padStart(width))}  ${toOneLine(title)}`),
    ...(marked === 0 ? [] : [`  ${marked} ${marked === 1 ? 'box' : 'boxes'} ticked`]),
    ...(isDryRun ? [`  to look at it: git diff HEAD...${branch}`] : []),
    ...(kept === null ? [] : [paint.dim(`  its branch and worktree stay: ${kept}`)]),
  ]
}
