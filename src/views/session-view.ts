import fs from 'node:fs'
import type { CheckpointView, MessageView, SessionView } from '../api/contract/session-view.ts'
import type { Checkpoint } from '../core/checkpoint.ts'
import { describeExit } from '../core/judge-end.ts'
import type { Message } from '../core/conversation.ts'
import { deadlineOf, type Exit, type Session } from '../core/session.ts'
import { spentBy } from '../core/spending.ts'
import { withoutLogin } from '../lib/without-login.ts'
import { type Instant, iso } from '../lib/time.ts'
import { attemptFolder } from '../world/os/folders.ts'
import type { Home } from '../world/os/home.ts'
import { bootId, lives } from '../world/os/processes.ts'
import { readExit } from '../world/os/spool.ts'

/**
 * A session as people see it: what is recorded, held against what can be seen on this machine right now. A process that
 * is gone is never shown as alive, even when no supervisor is there to conclude it.
 */
export function viewOf(session: Session, home: Home): SessionView {
  const { spec, phase } = session
  const seen = phase.name === 'ended' ? null : seenNow(session, home)
  const exit = session.exit ?? seen?.exit ?? null
  return {
    name: spec.name,
    id: spec.id,
    task: spec.task,
    label: spec.label ?? null,
    agent: spec.agent,
    mode: spec.mode,
    phase: seen?.isOver === true ? 'stopping' : phase.name,
    outcome: phase.name === 'ended' ? phase.outcome : null,
    reason: seen?.isOver === true ? `${seen.how}; not concluded yet` : reasonOf(session),
    trouble: 'trouble' in phase ? phase.trouble : null,
    title: spec.title,
    cwd: spec.cwd,
    parent: spec.parent?.id ?? null,
    attempt: session.attempt,
    restarts: session.restartCount,
    pid: seen?.pid ?? null,
    exitCode: exit?.kind === 'code' ? exit.code : null,
    signal: exit?.kind === 'signal' ? exit.signal : null,
    thread: session.thread.id,
    autonomy: spec.autonomy,
    model: spec.model,
    activity: exit === null && seen?.isOver !== true ? activityOf(session) : null,
    messages: {
      accepted: session.messages.length,
      confirmed: session.messages.filter(message => message.confirmedAt !== null).length,
    },
    spent: spentIn(session),
    checkpoint: checkpointIn(session),
    isSaving: session.saved.wanted !== null,
    checkpointTrouble: session.saved.trouble,
    push: pushOf(session),
    tasks: {
      open: session.tasks.filter(({ state }) => state !== 'done').length,
      done: session.tasks.filter(({ state }) => state === 'done').length,
    },
    createdAt: iso(spec.createdAt),
    startedAt: session.startedAt === null ? null : iso(session.startedAt),
    endedAt: phase.name === 'ended' ? iso(phase.at) : null,
    lastOutputAt: lastOutput(session, home),
    until: phase.name === 'resting' ? iso(phase.until) : null,
    deadline: isoOrNull(phase.name === 'ended' ? null : deadlineOf(session)),
  }
}

export function messageView(message: Message): MessageView {
  const { id, gist, acceptedAt, deliveredAt, confirmedAt } = message
  return {
    number: id,
    state: confirmedAt !== null ? 'confirmed' : deliveredAt !== null ? 'delivered' : 'accepted',
    gist,
    acceptedAt: iso(acceptedAt),
    deliveredAt: isoOrNull(deliveredAt),
    confirmedAt: isoOrNull(confirmedAt),
  }
}

function checkpointIn({ saved }: Session): SessionView['checkpoint'] {
  if (saved.last === null) return null
  const { number, at, trigger, leftOut = [] } = saved.last
  return { number, at: iso(at), trigger, leftOut }
}

function pushOf({ spec, saved }: Session): SessionView['push'] {
  const { push } = spec.saving
  const note = saved.pushNote === undefined ? {} : { note: saved.pushNote }
  return push === null
    ? null
    : { remote: withoutLogin(push), number: saved.pushed?.number ?? null, trouble: saved.pushTrouble, ...note }
}

export function checkpointView(checkpoint: Checkpoint): CheckpointView {
  const { number, at, trigger, attempt, commit, head, change, leftOut } = checkpoint
  return { number, at: iso(at), trigger, attempt, commit, head, ...change, leftOut }
}

function activityOf({ activity }: Session): string | null {
  if (activity.retrying !== null) return `tries again: ${activity.retrying.text}`
  const tool = activity.tools.at(-1)
  return tool === undefined ? null : `${tool.tool} ${tool.gist}`.trim()
}

function spentIn({ spending }: Session): SessionView['spent'] {
  const { turns, input, cached, output, usd } = spentBy(spending)
  return { turns, inputTokens: input, cachedTokens: cached, outputTokens: output, costUsd: usd }
}

interface Seen {
  readonly pid: number | null
  readonly exit: Exit | null
  /** The attempt has ended although nobody has recorded it yet. */
  readonly isOver: boolean
  readonly how: string
}

function seenNow(session: Session, home: Home): Seen {
  const { life } = session
  const isHere = life !== null && session.exit === null && life.boot === bootId && lives(life) === 'alive'
  if (isHere || life === null || session.exit !== null) {
    return { pid: isHere ? life.pid : null, exit: null, isOver: false, how: '' }
  }
  const record = readExit(attemptFolder(home, session.spec.id, session.attempt))
  const exit = record?.kind === 'ended' ? record.exit : null
  return { pid: null, exit, isOver: true, how: exit === null ? `pid ${life.pid} is gone` : describeExit(exit) }
}

function reasonOf({ phase, attempt, restartCount }: Session): string | null {
  switch (phase.name) {
    case 'starting':
      return attempt > 1 ? `starting attempt ${attempt}` : null
    case 'running':
      return restartCount > 0 ? `restarted ${restartCount} ${restartCount === 1 ? 'time' : 'times'}` : null
    case 'blocked':
      return phase.trouble === 'held' ? phase.question : `waiting for you: ${phase.question}`
    case 'stopping':
      return phase.next.reason
    case 'resting':
    case 'ended':
      return phase.reason
  }
}

function lastOutput(session: Session, home: Home): string | null {
  for (let attempt = session.attempt; attempt > 0; attempt--) {
    const { stdout, stderr } = attemptFolder(home, session.spec.id, attempt)
    const times = [stdout, stderr].map(writtenAt).filter(at => at !== null)
    if (times.length > 0) return iso(Math.max(...times))
  }
  return null
}

function writtenAt(file: string): Instant | null {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat === undefined || stat.size === 0 ? null : stat.mtimeMs
}

function isoOrNull(at: Instant | null): string | null {
  return at === null ? null : iso(at)
}
