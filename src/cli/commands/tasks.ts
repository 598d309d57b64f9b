import type { TasksRequest } from '../../api/contract/requests.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import type { SessionView, TaskView } from '../../api/contract/responses.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { readSession } from '../../views/read-session.ts'
import { readTasks } from '../../views/tasks.ts'
import { parseMailboxEntry } from '../../state/session-folder.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { Output } from '../terminal/output.ts'
import type { ColorName } from '../terminal/colors.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import { pickSession } from '../session/find-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { refusal } from '../../api/contract/problems.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import { sessionArgument } from '../args/command-definition.ts'
import { textType } from '../args/value-types.ts'

const TASK_ACTIONS = ['add', 'done', 'doing', 'open'] as const

export const command: Command = {
  name: 'tasks',
  group: 'Work',
  order: 50,
  summary: 'show and change the task list of a session',
  about: `The list holds the agent’s own plan and the tasks that you add. If the agent has to begin
a new conversation, oneshot gives it the open tasks. Inside a session the command works on
that session’s list, so an agent can use it, too. With beads = true in your config it also
shows the issues that are ready, and closes an issue when a task with its id is done.`,
  arguments: [
    sessionArgument('sessions', 'else the one we are in, or this directory’s latest', TASK_ACTIONS),
    {
      valueType: { ...textType('ACTION'), choices: TASK_ACTIONS },
      summary: `${TASK_ACTIONS.join(', ')}; a list unless given`,
    },
    { valueType: textType('WORD'), summary: 'add: the title; otherwise the ids of tasks', isRepeated: true },
  ],
  options: [OPTIONS.noHeaders, OPTIONS.noTrunc, OPTIONS.json],
  examples: [
    { argv: ['tasks'], description: 'the list of this directory’s most recent session' },
    { argv: ['tasks', 'fix-auth', 'add', 'write the tests'], description: 'one more; its id is printed' },
    { argv: ['tasks', 'fix-auth', 'done', 'u1'], description: 'tick it off' },
    { argv: ['tasks', 'done', 'bd-a1b2'], description: 'by an agent, in its own session; closes the issue, too' },
  ],
  run: tasks,
}

async function tasks(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { name, request } = parseTasksArgs(args.positionals)
  const session = findTargetSession(name, context)
  if (request !== undefined) return await changeTasks(session, request, args, context)
  const { home, screen } = context
  const { out, err } = screen
  const all = readTasks(home, session.id)
  if (args.has(OPTIONS.json)) out.printLine(toJson(all))
  else if (screen.isQuiet) for (const { id } of all) out.printLine(id)
  else if (all.length === 0)
    err.printLine(`${shownName(session)} has no tasks; oneshot tasks ${shownName(session)} add "…" names one`)
  else printTable(all, args, out)
  return 0
}

/** Inside a session, a line without a name means that session, in every directory. */
function findTargetSession(name: string | undefined, context: CommandContext): SessionView {
  const { home, env } = context
  const own = name === undefined ? parseMailboxEntry(env['ONESHOT_ATTEMPT'] ?? '') : null
  return (own && readSession(home, own.sessionId)) ?? pickSession(context, name)
}

/** Prints only ids into a pipe: those of new tasks, or those of changed ones. */
async function changeTasks(
  session: SessionView,
  request: TasksRequest,
  args: ParsedArgs,
  { home, env, screen }: CommandContext,
): Promise<number> {
  const { out, isQuiet } = screen
  const before = readTasks(home, session.id).map(({ id }) => id)
  const all = await (await ensureDaemon({ home, env })).tasks(session.id, request)
  const isAffected = ({ id, source }: TaskView): boolean =>
    request.action === 'add' ? source === 'user' && !before.includes(id) : request.ids.includes(id)
  const changed = all.filter(isAffected)
  if (args.has(OPTIONS.json)) out.printLine(toJson(all))
  else if (isQuiet || !out.isTerminal) for (const { id } of changed) out.printLine(id)
  else for (const task of changed) out.printLine(`${colorTaskState(task, out)} ${task.id}: ${toOneLine(task.title)}`)
  return 0
}

function printTable(all: readonly TaskView[], args: ParsedArgs, out: Output): void {
  const isTruncated = out.isTerminal && !args.has(OPTIONS.noTrunc)
  const width = isTruncated ? out.width : Number.POSITIVE_INFINITY
  out.printLine(renderTable(columnsFor(out), all, { headers: !args.has(OPTIONS.noHeaders), width }).join('\n'))
}

const STATE_STYLES: { readonly [S in TaskView['state']]: { readonly symbol: string; readonly color: ColorName } } = {
  open: { symbol: '◌', color: 'cyan' },
  doing: { symbol: '◔', color: 'yellow' },
  done: { symbol: '✔', color: 'green' },
}

function columnsFor(out: Output): Column<TaskView>[] {
  return [
    { header: 'STATE', text: taskStateLabel, color: (text, { state }) => out.paint[STATE_STYLES[state].color](text) },
    { header: 'ID', text: ({ id }) => toOneLine(id) },
    { header: 'SOURCE', text: ({ source }) => source },
    { header: 'TITLE', text: ({ title }) => toOneLine(title) },
  ]
}

function colorTaskState(task: TaskView, out: Output): string {
  return out.paint[STATE_STYLES[task.state].color](taskStateLabel(task))
}

function taskStateLabel({ state }: TaskView): string {
  return `${STATE_STYLES[state].symbol} ${state}`
}

/** The request of a line of `oneshot tasks`. */
export interface TasksArgs {
  /** The session's name; undefined means the session around us, or this directory's. */
  readonly name: string | undefined
  /** Undefined if the line only asks for the list. */
  readonly request: TasksRequest | undefined
}

/** Separates a session's name and an action: no session has an action's name, because the name contains its agent. */
export function parseTasksArgs(words: readonly string[]): TasksArgs {
  const name = isAction(words[0]) ? undefined : words[0]
  const [action, ...rest] = name === undefined ? words : words.slice(1)
  if (action === undefined) return { name, request: undefined }
  if (!isAction(action)) throw unknownAction(action, name)
  return { name, request: buildRequest(action, rest) }
}

function buildRequest(action: (typeof TASK_ACTIONS)[number], rest: readonly string[]): TasksRequest {
  if (action !== 'add') {
    if (rest.length === 0) throw refusal('usage', `tasks ${action} needs the id of a task`, 'oneshot tasks shows them')
    return { action, ids: rest }
  }
  const title = rest.join(' ').trim()
  if (title === '') throw refusal('usage', 'tasks add needs a title', 'oneshot tasks add "write the tests"')
  return { action, titles: [title] }
}

function unknownAction(word: string, name: string | undefined): ReturnType<typeof refusal> {
  const suggestion = didYouMean(word, TASK_ACTIONS)
  const hint = suggestion === undefined ? `one of ${TASK_ACTIONS.join(', ')}` : `did you mean ${suggestion}?`
  return refusal('usage', `tasks ${name ?? ''} cannot ${JSON.stringify(word)}`.replace('  ', ' '), hint)
}

function isAction(word: string | undefined): word is (typeof TASK_ACTIONS)[number] {
  return TASK_ACTIONS.some(action => action === word)
}
