import { refusal } from '../../api/contract/problems.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import type { SessionView, UsageView } from '../../api/contract/responses.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import { formatBytes } from '../../lib/bytes.ts'
import { formatDuration } from '../../lib/time.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { describeSpent } from '../../views/describe-session.ts'
import { readUsage } from '../../views/process-stats.ts'
import { isLoop, takesMessages, findNextCommand } from '../../views/describe-session.ts'
import type { Home } from '../../state/home.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { Output } from '../terminal/output.ts'
import { relativeTime } from '../terminal/format.ts'
import { exitStatusFor } from '../session/format-session.ts'
import { pickSession } from '../session/find-session.ts'
import { stateLine } from '../session/format-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { Trouble } from '../../lib/errors.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'status',
  group: 'Look',
  order: 20,
  summary: 'show how a session is doing, and why',
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.field, OPTIONS.exitStatus, OPTIONS.json],
  examples: [
    { argv: ['status', 'fix-auth', '--field', 'pid'], description: 'one value, for scripts' },
    { argv: ['status'], description: 'this directory’s most recent session' },
    { argv: ['status', 'fix-auth', '--json'], description: 'one object' },
  ],
  run: status,
}

async function status(args: ParsedArgs, context: CommandContext): Promise<number> {
  const session = pickSession(context, args.positionals[0])
  const { home, screen } = context
  const { out, err } = screen
  const board = isLoop(session) ? await describeLoop(home, session, out) : undefined
  const field = args.value(OPTIONS.field)
  const usage = args.has(OPTIONS.json) ? null : await readUsage(session)
  const fields = { ...session, repeatedTrouble: session.repeatedTrouble ?? null, usage }
  if (field !== undefined) out.printLine(fieldValue(fields, field))
  else if (args.has(OPTIONS.json)) out.printLine(toJson(session))
  else {
    for (const text of board?.lines ?? (await describe(home, { ...session, usage }, out))) out.printLine(text)
    if (board?.damage !== undefined) out.printLine(`  ${out.paint.dim('board'.padEnd(12))} ${toOneLine(board.damage)}`)
    if (out.isTerminal) err.printLine(err.paint.dim(nextSteps(session)))
  }
  return args.has(OPTIONS.exitStatus) ? exitStatusFor(session) : 0
}

/** Prints one field of the JSON form: text unchanged, null as nothing, anything else as JSON. */
function fieldValue(fields: Readonly<Record<string, unknown>>, field: string): string {
  if (!Object.hasOwn(fields, field)) {
    const suggestion = didYouMean(field, Object.keys(fields))
    const hint = suggestion === undefined ? `one of ${Object.keys(fields).join(', ')}` : `did you mean ${suggestion}?`
    throw refusal('usage', `a session has no field ${JSON.stringify(field)}`, hint)
  }
  const value = fields[field]
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)
}

/** Returns the board of a loop, or the reason why it is unreadable; undefined until the loop has read its list. */
async function describeLoop(
  home: Home,
  session: SessionView,
  out: Output,
): Promise<{ lines?: string[]; damage?: string } | undefined> {
  // Imported here, because most sessions are no loops.
  const { readBoard } = await import('../../views/loop/read-board.ts')
  const { sessionBoardLines } = await import('../loop/board.ts')
  try {
    const board = readBoard(home, session, Date.now())
    return board && { lines: [...sessionBoardLines(session, board, out), ...loopTroubleLines(session)] }
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    return { damage: cause.message }
  }
}

async function describe(
  home: Home,
  session: SessionView & { usage: UsageView | null },
  out: Output,
): Promise<string[]> {
  const now = Date.now()
  const when = (at: string): string => (out.isTerminal ? `${relativeTime(at, now)} (${at})` : at)
  const facts: [string, string | null][] = [
    ['name', session.label === null ? null : session.name],
    ['title', toOneLine(session.title)],
    ['agent', `${session.agent}, ${session.mode === 'tty' ? 'on a terminal' : 'headless'}`],
    ['model', session.model === null ? null : toOneLine(session.model)],
    ['autonomy', takesMessages(session) ? AUTONOMY_TEXTS[session.autonomy] : null],
    ['directory', toOneLine(session.cwd)],
    ['pid', session.pid === null ? null : String(session.pid)],
    ['uses', session.usage === null ? null : describeUsage(session.usage)],
    ['attempt', `${session.attempt} (${session.restarts} ${session.restarts === 1 ? 'restart' : 'restarts'})`],
    ['trouble', describeRepeatedTrouble(session)],
    ['doing', session.activity === null ? null : toOneLine(session.activity)],
    ['messages', takesMessages(session) ? describeMessages(session) : null],
    ['tasks', describeTasks(session)],
    ['spent', describeSpent(session)],
    ['exit', describeExit(session)],
    ['thread', session.thread === null ? null : toOneLine(session.thread)],
    ['created', when(session.createdAt)],
    ['started', session.startedAt && when(session.startedAt)],
    ['ended', session.endedAt && when(session.endedAt)],
    ['last output', session.lastOutputAt && when(session.lastOutputAt)],
    ['continues', session.until && when(session.until)],
    ['saved', session.checkpoint && `checkpoint ${session.checkpoint.number}, ${when(session.checkpoint.at)}`],
    ['left out', session.checkpoint?.leftOut.map(toOneLine).join('; ') || null],
    ['pushed', describePush(session)],
    ['in the way', session.push?.note ? toOneLine(session.push.note) : null],
    ['not pushed', session.push?.trouble ? toOneLine(session.push.trouble) : null],
    ['not saved', session.checkpointTrouble === null ? null : toOneLine(session.checkpointTrouble)],
    ['deadline', isLive(session) ? session.deadline && when(session.deadline) : null],
    ['id', session.id],
    ['to continue', findNextCommand(session)],
  ]
  const known = facts.filter(([, value]) => value !== null)
  return [
    stateLine(session, out.paint),
    ...(session.trouble === 'unproven' ? await readCheckOutput(home, session) : []),
    ...known.map(([label, value]) => `  ${out.paint.dim(label.padEnd(12))} ${value}`),
  ]
}

/** Imported on demand, because it needs the patterns of all secrets. */
async function readCheckOutput(home: Home, session: SessionView): Promise<string[]> {
  const { checkOutputLines } = await import('../session/failed-check-output.ts')
  return checkOutputLines(home, session)
}

/** Returns `340 MB of memory in 4 processes, 1m12s of CPU`. */
function describeUsage({ processes, cpuSeconds, memoryBytes }: UsageView): string {
  const many = processes === 1 ? '1 process' : `${processes} processes`
  return `${formatBytes(memoryBytes)} of memory in ${many}, ${cpuSeconds < 1 ? 'less than 1 s' : formatDuration(Math.round(cpuSeconds) * 1_000)} of CPU`
}

const AUTONOMY_TEXTS: { readonly [A in SessionView['autonomy']]: string } = {
  full: 'full: it may do anything unasked',
  edits: 'edits: it may change files unasked',
  ask: 'ask: it may only look unasked',
}

function describeMessages({ messages: { accepted, confirmed } }: SessionView): string {
  return `${confirmed} of ${accepted} read`
}

/** Returns `closing the panes failed 4 times since …: permission denied; oneshot tries again`. */
function describeRepeatedTrouble({ repeatedTrouble }: SessionView): string | null {
  if (repeatedTrouble === undefined) return null
  const { doing, count, since, reason } = repeatedTrouble
  return `${toOneLine(doing)} failed ${count} times since ${since}: ${toOneLine(reason)}; oneshot tries again`
}

function loopTroubleLines(session: SessionView): string[] {
  const text = describeRepeatedTrouble(session)
  return text === null ? [] : [`  trouble: ${text}`]
}

function describeTasks({ tasks: { open, done } }: SessionView): string | null {
  return open + done === 0 ? null : `${done} of ${open + done} done`
}

function describePush({ push }: SessionView): string | null {
  if (push === null) return null
  return push.number === null
    ? `nothing is on ${toOneLine(push.remote)} yet`
    : `checkpoint ${push.number} is on ${toOneLine(push.remote)}`
}

function describeExit({ exitCode, signal }: SessionView): string | null {
  if (exitCode !== null) return `code ${exitCode}`
  return signal === null ? null : `signal ${signal}`
}

function nextSteps(session: SessionView): string {
  const { phase } = session
  const name = shownName(session)
  const more = takesMessages(session) ? `oneshot send ${name} "…"   ` : ''
  if (phase !== 'ended') return `oneshot follow ${name}   oneshot attach ${name}   ${more}oneshot stop ${name}`
  return `see what it wrote: oneshot log ${name}${more === '' ? '' : `   give it more to do: ${more}`}`.trimEnd()
}
