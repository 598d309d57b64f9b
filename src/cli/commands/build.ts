import fs from 'node:fs'
import path from 'node:path'
import { loadConfig } from '../../api/config/load-config.ts'
import type { PreflightView } from '../../api/contract/loop-view.ts'
import { refusal } from '../../api/contract/problems.ts'
import { isRefusal } from '../../lib/errors.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { chooseCheck, resolveListFile } from '../loop/loop-options.ts'
import { summaryLines } from '../loop/start-summary.ts'
import { parseGuardedPaths } from '../loop/loop-options.ts'
import { buildLoopRequest, checkLoopArgs, LOOP_OPTIONS, WORKER_OPTIONS } from '../loop/loop-request.ts'
import { reviewPlan } from '../loop/review-plan.ts'
import { presentLoop, startLoop } from '../loop/start-loop.ts'
import { readPrompt } from '../args/read-prompt-or-message.ts'
import { resolveDirectory, buildEnvironment, buildRunRequest } from '../run/run-request.ts'
import type { Screen } from '../terminal/command-streams.ts'
import { refuseFollowWithJson } from '../args/check-positionals.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { textType } from '../args/value-types.ts'

export const command: Command = {
  name: 'build',
  group: 'Work',
  order: 30,
  summary: 'plan an idea as a list of tasks, and work through it',
  about: `A first agent plans: it writes PRD.md with a box for each task. At a terminal the command
shows the plan and asks before it starts; --yes starts at once, --plan-only stops there.
The rest is a loop with the rules and options of oneshot ralph.

The directory may be empty or hold a project. If it is no git repository, oneshot makes
one.`,
  arguments: [{ valueType: textType('IDEA'), summary: 'what is to be built; - reads it from stdin' }],
  rest: { placeholder: 'ARGV...', summary: 'the agent’s own arguments' },
  options: [OPTIONS.promptFile, OPTIONS.planOnly, OPTIONS.yes, ...LOOP_OPTIONS, ...WORKER_OPTIONS],
  examples: [
    { argv: ['build', 'a command line tool that renames photos by date'], description: 'plan, look, then build' },
    { argv: ['build', '--yes', '--prompt-file', 'idea.md'], description: 'without a question' },
    { argv: ['build', '--plan-only', 'add a dark mode'], description: 'only the plan, for oneshot ralph later' },
  ],
  excessHint: 'quote the idea: oneshot build "a tool that …"',
  run: build,
}

const EXAMPLE = 'oneshot build "a tool that renames photos by date"'

async function build(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { env, hooks, screen } = context
  refuseFollowWithJson(args)
  checkLoopArgs(args)
  const cwd = resolveDirectory(args, context)
  const config = await loadConfig({ env, cwd, overrides: args.values(OPTIONS.config) })
  const idea = await readPrompt(args, context, EXAMPLE)
  if (idea === undefined) throw refusal('usage', 'build needs an idea', EXAMPLE)
  const file = resolveListFile(args, undefined, cwd) ?? 'PRD.md'
  const project = await hooks.preflight({
    cwd,
    list: file,
    env: buildEnvironment(args, context, cwd),
    patterns: Object.values(parseGuardedPaths(args, cwd)).flat(),
  })
  refuseExistingPlan(project, file, cwd)
  const check = chooseCheck(args, project)
  const worker = buildRunRequest(args, context, { config, cwd, prompt: idea })
  const planMode = selectPlanMode(args, screen)
  const request = buildLoopRequest(worker, args, config, { kind: 'build', list: file, check, planning: planMode })
  if (!screen.isQuiet && !args.has(OPTIONS.json))
    for (const text of summaryLines({ list: null, file, check, project, worker }, args, screen.err.paint))
      screen.err.printLine(text)
  const session = await startLoop(request, worker, args, config, context)
  if (typeof session === 'number') return session
  return planMode === 'first' ? await reviewPlan(session, args, context) : await presentLoop(session, args, context)
}

/** Shows the plan first if a person can read it. */
function selectPlanMode(args: ParsedArgs, { mayAsk }: Screen): 'only' | 'on' | 'first' {
  if (args.has(OPTIONS.planOnly)) {
    if (args.has(OPTIONS.yes)) throw refusal('usage', '--plan-only and --yes exclude each other', 'give one of them')
    return 'only'
  }
  return mayAsk && !args.has(OPTIONS.yes) && !args.has(OPTIONS.json) ? 'first' : 'on'
}

/** Refuses to overwrite an existing plan. */
function refuseExistingPlan({ list }: PreflightView, file: string, cwd: string): void {
  if (isRefusal(list)) {
    if (fs.existsSync(path.resolve(cwd, file))) throw list
    return
  }
  if (list.tasks.length === 0) return
  const taskCount = list.tasks.length === 1 ? '1 task' : `${list.tasks.length} tasks`
  const open = list.tasks.filter(({ isDone }) => !isDone).length
  throw refusal(
    'usage',
    `${file} is a plan already: ${taskCount}, ${open} of them open`,
    `work through it with: oneshot ralph ${file}; or plan into another file: --prd OTHER.md`,
  )
}
