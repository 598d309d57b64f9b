import fs from 'node:fs'
import type { CheckpointView, MessageView, SessionView } from '../api/contract/responses.ts'
import type { Checkpoint } from '../core/checkpoint/checkpoint.ts'
import { describeExit } from '../core/policy/exit-policy.ts'
import type { Message } from '../core/session/conversation.ts'
import type { Exit } from '../core/session/attempt.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import { publicPhase, sessionDeadline, type Session } from '../core/session/session-state.ts'
import { totalUsage } from '../core/session/usage.ts'
import { stripCredentials } from '../lib/mask/strip-url-credentials.ts'
import { type Instant, formatIso } from '../lib/time.ts'
import { attemptFolder } from '../state/session-folder.ts'
import type { Home } from '../state/home.ts'
import { bootId, checkLiveness } from '../os/process/processes.ts'
import { isSupervisorAlive } from '../state/supervisor-pid.ts'
import { readTroubleFile } from '../state/repeated-trouble-file.ts'
import { readExit } from '../state/shim-records.ts'

/**
 * Builds the view of a session from its record and the current state of this machine. The view never shows a dead
 * process as alive, even if no supervisor has recorded its death. Two fields read files only when somebody uses them,
 * because a list of hundreds of sessions does not.
 */
export function toSessionView(session: Session, home: Home): SessionView {
  const { spec, phase } = session
  const processCheck = phase.name === 'ended' ? null : checkProcess(session, home)
  const exit = session.attempt.exit ?? processCheck?.exit ?? null
  const isStopping = phase.name === 'stopping' || phase.name === 'verifying'
  const isUnsupervised = processCheck?.isOver === true && !isStopping && !isSupervisorAlive(home)
  return {
    name: spec.name,
    id: spec.id,
    task: spec.task,
    label: spec.label ?? null,
    agent: spec.agent,
    mode: spec.mode,
    phase: processCheck?.isOver === true ? 'stopping' : publicPhase(phase),
    ...(isUnsupervised && { isUnsupervised }),
    outcome: phase.name === 'ended' ? phase.outcome : null,
    reason:
      processCheck?.isOver === true
        ? `${processCheck.how}; ${isUnsupervised ? 'no supervisor runs' : 'not concluded yet'}`
        : describePhase(session),
    trouble: 'trouble' in phase ? phase.trouble : null,
    get repeatedTrouble() {
      return phase.name === 'ended' ? undefined : readRepeatedTrouble(home, spec.id)
    },
    title: spec.title,
    cwd: spec.cwd,
    parent: spec.parent?.id ?? null,
    attempt: session.attempt.number,
    restarts: session.restartCount,
    pid: processCheck?.pid ?? null,
    exitCode: exit?.kind === 'code' ? exit.code : null,
    signal: exit?.kind === 'signal' ? exit.signal : null,
    thread: session.thread.id,
    autonomy: spec.autonomy,
    model: spec.model,
    activity: exit === null && processCheck?.isOver !== true ? describeActivity(session) : null,
    messages: {
      accepted: session.messages.length,
      confirmed: session.messages.filter(message => message.confirmedAt !== null).length,
    },
    spent: sumSpent(session),
    checkpoint: lastCheckpoint(session),
    isSaving: session.saved.wanted !== null,
    checkpointTrouble: session.saved.trouble,
    push: pushState(session),
    tasks: {
      open: session.tasks.filter(({ state }) => state !== 'done').length,
      done: session.tasks.filter(({ state }) => state === 'done').length,
    },
    createdAt: formatIso(spec.createdAt),
    startedAt: session.startedAt === null ? null : formatIso(session.startedAt),
    endedAt: phase.name === 'ended' ? formatIso(phase.at) : null,
    get lastOutputAt() {
      return findLastOutput(session, home)
    },
    until: phase.name === 'resting' ? formatIso(phase.until) : null,
    deadline: isoOrNull(phase.name === 'ended' ? null : sessionDeadline(session)),
  }
}

function readRepeatedTrouble(home: Home, id: SessionId): SessionView['repeatedTrouble'] {
  const trouble = readTroubleFile(home, id)
  return trouble === null ? undefined : { ...trouble, since: formatIso(trouble.since) }
}

export function toMessageView(message: Message): MessageView {
  const { id, summary, acceptedAt, deliveredAt, confirmedAt } = message
  return {
    number: id,
    state: confirmedAt !== null ? 'confirmed' : deliveredAt !== null ? 'delivered' : 'accepted',
    gist: summary,
    acceptedAt: formatIso(acceptedAt),
    deliveredAt: isoOrNull(deliveredAt),
    confirmedAt: isoOrNull(confirmedAt),
  }
}

function lastCheckpoint({ saved }: Session): SessionView['checkpoint'] {
  if (saved.last === null) return null
  const { number, at, trigger, leftOut = [] } = saved.last
  return { number, at: formatIso(at), trigger, leftOut }
}

function pushState({ spec, saved }: Session): SessionView['push'] {
  const { push } = spec.supervision.saving
  const note = saved.pushNote === undefined ? {} : { note: saved.pushNote }
  return push === null
    ? null
    : { remote: stripCredentials(push), number: saved.pushed?.number ?? null, trouble: saved.pushTrouble, ...note }
}

export function toCheckpointView(checkpoint: Checkpoint): CheckpointView {
  const { number, at, trigger, attempt, commit, head, change, leftOut } = checkpoint
  return { number, at: formatIso(at), trigger, attempt, commit, head, ...change, leftOut }
}

function describeActivity({ attempt: { activity } }: Session): string | null {
  if (activity.retrying !== null) return `tries again: ${activity.retrying.text}`
  const tool = activity.tools.at(-1)
  return tool === undefined ? null : `${tool.tool} ${tool.summary}`.trim()
}

function sumSpent({ spending }: Session): SessionView['spent'] {
  const { turns, input, cached, output, usd } = totalUsage(spending)
  return { turns, inputTokens: input, cachedTokens: cached, outputTokens: output, costUsd: usd }
}

interface ProcessCheck {
  readonly pid: number | null
  readonly exit: Exit | null
  /** True when the attempt has ended, although no supervisor has recorded it yet. */
  readonly isOver: boolean
  readonly how: string
}

function checkProcess(session: Session, home: Home): ProcessCheck {
  const { process: identity } = session.attempt
  const isAlive =
    identity !== null &&
    session.attempt.exit === null &&
    identity.boot === bootId &&
    checkLiveness(identity) === 'alive'
  if (isAlive || identity === null || session.attempt.exit !== null) {
    return { pid: isAlive ? identity.pid : null, exit: null, isOver: false, how: '' }
  }
  const record = readExit(attemptFolder(home, session.spec.id, session.attempt.number))
  const exit = record?.kind === 'ended' ? record.exit : null
  return { pid: null, exit, isOver: true, how: exit === null ? `pid ${identity.pid} is gone` : describeExit(exit) }
}

function describePhase({ phase, attempt: { number: attempt }, restartCount }: Session): string | null {
  switch (phase.name) {
    case 'starting':
      return attempt > 1 ? `starting attempt ${attempt}` : null
    case 'running':
      return restartCount > 0 ? `restarted ${restartCount} ${restartCount === 1 ? 'time' : 'times'}` : null
    case 'waiting':
    case 'blocked':
      return phase.trouble === 'held' ? phase.question : `waiting for you: ${phase.question}`
    case 'stopping':
    case 'verifying':
      return phase.next.reason
    case 'resting':
    case 'ended':
      return phase.reason
  }
}

function findLastOutput(session: Session, home: Home): string | null {
  for (let attempt = session.attempt.number; attempt > 0; attempt--) {
    const { stdout, stderr } = attemptFolder(home, session.spec.id, attempt)
    const times = [stdout, stderr].map(readModifiedAt).filter(at => at !== null)
    if (times.length > 0) return formatIso(Math.max(...times))
  }
  return null
}

function readModifiedAt(file: string): Instant | null {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat === undefined || stat.size === 0 ? null : stat.mtimeMs
}

function isoOrNull(at: Instant | null): string | null {
  return at === null ? null : formatIso(at)
}
