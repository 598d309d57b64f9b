import { refusal } from '../../api/contract/problems.ts'
import type { SessionView, UsageView } from '../../api/contract/session-view.ts'
import { nearest } from '../../lib/nearest.ts'
import { formatBytes } from '../../lib/bytes.ts'
import { formatDuration } from '../../lib/time.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { readBoard } from '../../views/loops.ts'
import { describeSpent } from '../../views/spent.ts'
import { usageIn } from '../../views/usage.ts'
import { isLoop, takesMessages, wayOn } from '../../views/way-on.ts'
import type { Home } from '../../world/os/home.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Outlet } from '../screen/outlet.ts'
import { relative } from '../screen/when.ts'
import { linesOf } from '../ralph/lines-of.ts'
import { checkSaid } from '../session/check-said.ts'
import { exitStatusOf } from '../session/exit-status.ts'
import { pickSession } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function status(line: Line, surroundings: Surroundings): Promise<number> {
  const session = pickSession(surroundings, line.words[0])
  const { home, screen } = surroundings
  const { out, err } = screen
  const board = isLoop(session) ? readBoard(home, session, Date.now()) : undefined
  const field = line.value(OPTIONS.field)
  const usage = line.has(OPTIONS.json) ? null : await usageIn(session)
  const fields = { ...session, usage }
  if (field !== undefined) out.say(valueOf(fields, field))
  else if (line.has(OPTIONS.json)) out.say(toJson(session))
  else {
    const lines = board === undefined ? describe(home, fields, out) : linesOf(session, board, out)
    for (const text of lines) out.say(text)
    if (out.isTerminal) err.say(err.paint.dim(nextSteps(session)))
  }
  return line.has(OPTIONS.exitStatus) ? exitStatusOf(session) : 0
}

/** One field of the JSON form: text as it is, null as nothing, anything else as JSON. */
function valueOf(fields: Readonly<Record<string, unknown>>, field: string): string {
  if (!Object.hasOwn(fields, field)) {
    const meant = nearest(field, Object.keys(fields))
    const hint = meant === undefined ? `one of ${Object.keys(fields).join(', ')}` : `did you mean ${meant}?`
    throw refusal('usage', `a session has no field ${JSON.stringify(field)}`, hint)
  }
  const value = fields[field]
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)
}

function describe(home: Home, session: SessionView & { usage: UsageView | null }, out: Outlet): string[] {
  const now = Date.now()
  const when = (at: string): string => (out.isTerminal ? `${relative(at, now)} (${at})` : at)
  const facts: [string, string | null][] = [
    ['name', session.label === null ? null : session.name],
    ['title', oneLine(session.title)],
    ['agent', `${session.agent}, ${session.mode === 'tty' ? 'on a terminal' : 'headless'}`],
    ['model', session.model === null ? null : oneLine(session.model)],
    ['autonomy', takesMessages(session) ? AUTONOMY[session.autonomy] : null],
    ['directory', oneLine(session.cwd)],
    ['pid', session.pid === null ? null : String(session.pid)],
    ['uses', session.usage === null ? null : describeUsage(session.usage)],
    ['attempt', `${session.attempt} (${session.restarts} ${session.restarts === 1 ? 'restart' : 'restarts'})`],
    ['doing', session.activity === null ? null : oneLine(session.activity)],
    ['messages', takesMessages(session) ? messagesOf(session) : null],
    ['tasks', tasksOf(session)],
    ['spent', describeSpent(session)],
    ['exit', exitOf(session)],
    ['thread', session.thread === null ? null : oneLine(session.thread)],
    ['created', when(session.createdAt)],
    ['started', session.startedAt && when(session.startedAt)],
    ['ended', session.endedAt && when(session.endedAt)],
    ['last output', session.lastOutputAt && when(session.lastOutputAt)],
    ['continues', session.until && when(session.until)],
    ['saved', session.checkpoint && `checkpoint ${session.checkpoint.number}, ${when(session.checkpoint.at)}`],
    ['left out', session.checkpoint?.leftOut.map(oneLine).join('; ') || null],
    ['pushed', pushedOf(session)],
    ['in the way', session.push?.note ? oneLine(session.push.note) : null],
    ['not pushed', session.push?.trouble ? oneLine(session.push.trouble) : null],
    ['not saved', session.checkpointTrouble === null ? null : oneLine(session.checkpointTrouble)],
    ['deadline', isLive(session) ? session.deadline && when(session.deadline) : null],
    ['id', session.id],
    ['to continue', wayOn(session)],
  ]
  const known = facts.filter(([, value]) => value !== null)
  return [
    stateLine(session, out.paint),
    ...checkSaid(home, session),
    ...known.map(([label, value]) => `  ${out.paint.dim(label.padEnd(12))} ${value}`),
  ]
}

/** `340 MB in 4 processes, 1m12s of CPU` */
function describeUsage({ processes, cpuSeconds, memoryBytes }: UsageView): string {
  const many = processes === 1 ? '1 process' : `${processes} processes`
  return `${formatBytes(memoryBytes)} of memory in ${many}, ${cpuSeconds < 1 ? 'less than 1 s' : formatDuration(Math.round(cpuSeconds) * 1_000)} of CPU`
}

const AUTONOMY: { readonly [A in SessionView['autonomy']]: string } = {
  full: 'full: it may do anything unasked',
  edits: 'edits: it may change files unasked',
  ask: 'ask: it may only look unasked',
}

function messagesOf({ messages: { accepted, confirmed } }: SessionView): string {
  return `${confirmed} of ${accepted} read`
}

function tasksOf({ tasks: { open, done } }: SessionView): string | null {
  return open + done === 0 ? null : `${done} of ${open + done} done`
}

function pushedOf({ push }: SessionView): string | null {
  if (push === null) return null
  return push.number === null
    ? `nothing is on ${oneLine(push.remote)} yet`
    : `checkpoint ${push.number} is on ${oneLine(push.remote)}`
}

function exitOf({ exitCode, signal }: SessionView): string | null {
  if (exitCode !== null) return `code ${exitCode}`
  return signal === null ? null : `signal ${signal}`
}

function nextSteps(session: SessionView): string {
  const { name, phase } = session
  const more = takesMessages(session) ? `oneshot send ${name} "…"   ` : ''
  if (phase !== 'ended') return `oneshot follow ${name}   oneshot attach ${name}   ${more}oneshot stop ${name}`
  return `see what it wrote: oneshot log ${name}${more === '' ? '' : `   give it more to do: ${more}`}`.trimEnd()
}
