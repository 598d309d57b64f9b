import fs from 'node:fs'
import path from 'node:path'
import { loadConfig } from '../../api/config/load-config.ts'
import type { ListView } from '../../api/contract/loop-view.ts'
import { refusal } from '../../api/contract/problems.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import { slugify } from '../../lib/text/slug.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { unexpectedArgument } from '../args/errors.ts'
import { assertRepository, requireOpenTasks } from '../loop/preflight.ts'
import { chooseCheck, resolveListFile } from '../loop/loop-options.ts'
import { findUnfinishedLoop } from '../loop/find-loop.ts'
import { type LoopSummary, summaryLines } from '../loop/start-summary.ts'
import { parseGuardedPaths } from '../loop/loop-options.ts'
import { buildLoopRequest, checkLoopArgs, LOOP_OPTIONS, WORKER_OPTIONS } from '../loop/loop-request.ts'
import { presentLoop, startLoop } from '../loop/start-loop.ts'
import { resolveDirectory, buildEnvironment, buildRunRequest } from '../run/run-request.ts'
import { refuseFollowWithJson } from '../args/check-positionals.ts'
import type { Command, CommandContext } from '../context.ts'
import type { Option } from '../args/command-definition.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'
import { textType } from '../args/value-types.ts'

const LOOP_ACTIONS = ['status', 'land', 'retry'] as const

export const command: Command = {
  name: 'ralph',
  group: 'Work',
  order: 20,
  summary: 'work through a list of tasks, each with a fresh agent, and check the results',
  about: `The list is a Markdown file with boxes (- [ ] …), a YAML file, or the project’s beads
issues (oneshot ralph beads): the one that you name, else PRD, TASKS or TODO here.

Each iteration gives one task to a fresh agent. The task is done when git shows work and
the check passes: the one of --verify, else the project’s own tests, which are named at
the start; --no-verify runs none. A box that was ticked without that is opened again.
After the same failure three times the task is blocked, and the next one begins.

Without --parallel the agents work here, one after the other. With --parallel several
work at a time, each in its own worktree; finished tasks are merged into the loop’s own
branch, and your checkout is not touched until --land or oneshot ralph land.

  oneshot ralph status [NAME]   the board: every task, its state, tries and evidence
  oneshot ralph land [NAME]     merge the loop’s branch into your checkout
  oneshot ralph retry N [NAME]  try a blocked task again; --fresh without its earlier work

A loop is a session like any other: stop, resume, follow, wait and attach work. --max-time
and the budgets hold for the whole loop and have no default; --max-turns, --silence,
--memory and the like hold for each iteration, and so does the config key max-time (5h).
Arguments after -- go to the agents.`,
  arguments: [
    {
      valueType: { ...textType('LIST', 'loops-or-files'), suggestions: LOOP_ACTIONS },
      summary: 'a Markdown or YAML file with tasks; or: status, land, retry N',
    },
    sessionArgument('loops', 'else this directory’s latest loop'),
    { valueType: textType('LOOP', 'loops'), summary: 'the loop, after retry N' },
  ],
  rest: { placeholder: 'ARGV...', summary: 'the agent’s own arguments' },
  options: [
    ...LOOP_OPTIONS,
    OPTIONS.once,
    OPTIONS.task,
    ...WORKER_OPTIONS,
    OPTIONS.watch,
    OPTIONS.discardWork,
    OPTIONS.squash,
    OPTIONS.dryRun,
  ],
  examples: [
    { argv: ['ralph'], description: 'use the list that is found here' },
    {
      argv: ['ralph', 'PRD.md', '--agent', 'codex', '--verify', 'npm test'],
      description: 'choose list, agent and check',
    },
    { argv: ['ralph', 'PRD.md', '--parallel', '4', '--setup', 'npm ci'], description: 'four at a time, in worktrees' },
    { argv: ['ralph', 'PRD.md', '--task', '3', '--once'], description: 'one iteration on one task' },
    { argv: ['ralph', 'status', '--watch'], description: 'the board, as it changes' },
    { argv: ['ralph', 'retry', '3', '--fresh'], description: 'try a blocked task again, from the start' },
    { argv: ['ralph', 'land'], description: 'merge the finished tasks into your branch' },
  ],
  excessHint: 'name one list: oneshot ralph PRD.md',
  run: ralph,
}

async function ralph(args: ParsedArgs, context: CommandContext): Promise<number> {
  const [word, name, third] = args.positionals
  const action = LOOP_ACTIONS.find(known => known === word)
  if (action === undefined) return startCommand(args, context)
  if (action === 'retry') {
    refuseUnusedOptions(args, action, [OPTIONS.discardWork, OPTIONS.json])
    return (await import('../loop/retry.ts')).retryCommand(args, context, { task: name, loop: third })
  }
  if (third !== undefined) throw unexpectedArgument(command, third)
  if (action === 'status') {
    refuseUnusedOptions(args, action, [OPTIONS.watch, OPTIONS.json])
    return (await import('../loop/status.ts')).statusCommand(args, context, name)
  }
  refuseUnusedOptions(args, action, [OPTIONS.squash, OPTIONS.dryRun, OPTIONS.json])
  return (await import('../loop/land.ts')).landCommand(args, context, name)
}

async function startCommand(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { env, hooks, screen } = context
  refuseFollowWithJson(args)
  checkLoopArgs(args)
  refuseUnusedOptions(
    args,
    'itself',
    [...command.options].filter(option => !ACTION_OPTIONS.includes(option)),
  )
  const [word, extra] = args.positionals
  if (extra !== undefined) throw unexpectedArgument(command, extra)
  const cwd = resolveDirectory(args, context)
  const config = await loadConfig({ env, cwd, overrides: args.values(OPTIONS.config) })
  const requestedList = resolveListFile(args, word, cwd)
  refuseSessionCommand(requestedList, cwd)
  const project = await hooks.preflight({
    cwd,
    list: requestedList,
    env: buildEnvironment(args, context, cwd),
    patterns: Object.values(parseGuardedPaths(args, cwd)).flat(),
    beads: config.beads.value,
  })
  const list = requireOpenTasks(args, project)
  assertRepository(args, cwd, project)
  const check = chooseCheck(args, project)
  const file = list.file ?? 'the issues of beads'
  const base = buildRunRequest(args, context, { config, cwd, prompt: Buffer.from(`work through ${file}`) })
  const worker = list.file === null ? { ...base, beads: true } : base
  const name = slugify(path.parse(list.file ?? 'beads').name, 'list')
  const plan = { kind: 'ralph', list: list.file, check, planning: 'none', name } as const
  const request = buildLoopRequest(worker, args, config, plan)
  if (!screen.isQuiet && !args.has(OPTIONS.json))
    printAnnouncement({ list, file, check, project, worker }, args, context)
  const session = await startLoop(request, worker, args, config, context)
  return typeof session === 'number' ? session : await presentLoop(session, args, context)
}

/** Prints the planned work, and a hint if the user may have meant an unfinished loop. */
function printAnnouncement(
  summary: LoopSummary & { list: ListView },
  args: ParsedArgs,
  { home, screen }: CommandContext,
): void {
  const { err } = screen
  for (const text of summaryLines(summary, args, err.paint)) err.printLine(text)
  const earlier = findUnfinishedLoop(home, summary.worker.cwd, summary.list.file)
  if (earlier === undefined) return
  const resumeCommand = `oneshot resume ${earlier.id}`
  err.printLine(
    `${err.paint.yellow('note:')} this is a new loop; the last one on this list is not finished; continue it with: ${resumeCommand}`,
  )
}

/** Options of the actions, not of a new loop. */
const ACTION_OPTIONS: readonly Option<unknown>[] = [OPTIONS.watch, OPTIONS.discardWork, OPTIONS.squash, OPTIONS.dryRun]

/** Refuses an option that has no effect there, instead of ignoring it. */
function refuseUnusedOptions(args: ParsedArgs, what: string, allowed: readonly Option<unknown>[]): void {
  const option = command.options.find(known => args.has(known) && !allowed.includes(known))
  if (option === undefined) return
  const action = option === OPTIONS.watch ? 'status' : 'land'
  const hint = ACTION_OPTIONS.includes(option) ? `oneshot ralph ${action} --${option.name}` : 'leave it out'
  throw refusal('usage', `--${option.name} does nothing for ralph ${what === 'itself' ? '' : what}`.trimEnd(), hint)
}

/** Words that people try for the actions. */
const SYNONYMS: Readonly<Record<string, string>> = {
  board: 'status',
  show: 'status',
  list: 'status',
  watch: 'status --watch',
  merge: 'land',
  again: 'retry',
}

/** Refuses a list that is a mistyped action or a session command: a user stops and resumes a loop like any session. */
function refuseSessionCommand(list: string | null, cwd: string): void {
  if (list === null || fs.existsSync(path.join(cwd, list))) return
  const word = /[./]/.test(list) ? '' : list
  const suggestion = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : didYouMean(word, LOOP_ACTIONS)
  if (suggestion !== undefined)
    throw refusal(
      'usage',
      `there is no file ${list}, and ralph has no such action`,
      `did you mean oneshot ralph ${suggestion}?`,
    )
  if (!['stop', 'resume', 'attach', 'log', 'wait'].includes(list)) return
  throw refusal('usage', `ralph has no action ${list}: a loop is a session like any other`, `oneshot ${list}`)
}
