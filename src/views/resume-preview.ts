import fs from 'node:fs'
import { LOOP_KINDS } from '../api/contract/known-agents.ts'
import type { ResumePreview } from '../api/contract/responses.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import { isIdle, type Session } from '../core/session/session-state.ts'
import { formatDuration, type Instant } from '../lib/time.ts'
import { type Home, homeExists } from '../state/home.ts'
import { readStoredSession } from '../world/store/reader.ts'

/**
 * Describes the findings about a session, and the effect that a resume would have. `hasThread` is null when it is
 * unknown if the agent still has the conversation.
 */
export function buildResumePreview(
  session: Session,
  hasThread: boolean | null,
  now: Instant = Date.now(),
): ResumePreview {
  return { found: [...describeFindings(session, hasThread, now)], next: describeNextStep(session, hasThread) }
}

/** Builds the preview from disk alone, for a home without a supervisor; undefined when there is no such session. */
export function readResumePreview(home: Home, id: SessionId): ResumePreview | undefined {
  const session = homeExists(home) ? readStoredSession(home, id) : undefined
  if (session === undefined) return undefined
  const { found, next } = buildResumePreview(session, session.thread.id === null ? false : null)
  const isUnchanged = session.phase.name !== 'ended' && !isIdle(session)
  const nextStep = isUnchanged ? 'it supervises the work, and starts another attempt if the work has died' : next
  const { cwd } = session.spec
  const missingFolder = fs.existsSync(cwd) ? [] : [`its folder ${cwd} is gone`]
  return {
    found: ['no supervisor is running', ...missingFolder, ...found],
    next: `a supervisor is started; ${nextStep}`,
  }
}

function* describeFindings(session: Session, hasThread: boolean | null, now: Instant): Iterable<string> {
  const { thread, saved, tasks, messages } = session
  const isLoop = isLoopKind(session)
  if (thread.id !== null && !isLoop)
    yield `its conversation ${thread.id}${hasThread === false ? ', whose record is gone' : ''}`
  const unread = messages.filter(message => message.confirmedAt === null).length
  if (unread > 0 && !isLoop) yield `${unread} ${unread === 1 ? 'message' : 'messages'} that it has not read`
  if (saved.last !== null) {
    const { number, trigger, at } = saved.last
    yield `checkpoint ${number} (${trigger}), made ${formatDuration(Math.max(0, now - at))} ago`
  }
  const open = tasks.filter(({ state }) => state !== 'done').map(({ title }) => title)
  if (isLoop && tasks.length > 0) yield `${tasks.length - open.length} of ${tasks.length} tasks done`
  else if (open.length > 0) yield `${open.length} of ${tasks.length} tasks open: ${open.slice(0, 3).join('; ')}`
}

function describeNextStep(session: Session, hasThread: boolean | null): string {
  const { phase, thread, messages } = session
  const { number: attempt } = session.attempt
  if (phase.name !== 'ended' && !isIdle(session)) return 'the work continues by itself: there is nothing to resume'
  if (phase.name === 'ended' && messages.length === 0) return 'nothing: a command is not started twice'
  const isAllRead = messages.every(message => message.confirmedAt !== null)
  if (phase.name === 'ended' && phase.outcome === 'done' && isAllRead)
    return isLoopKind(session)
      ? 'nothing: it is done; if you add tasks to its list, oneshot ralph starts a loop on them'
      : `nothing: it is done; oneshot send ${session.spec.name} gives it more to do`
  const next = `attempt ${attempt + 1}`
  if (isLoopKind(session)) return describeNextTask(session)
  const hasConfirmed = messages.some(message => message.confirmedAt !== null)
  if (!hasConfirmed) return `${next} starts with the first prompt`
  if (thread.needsDigest || (hasThread === false && thread.id === null))
    return `${next} begins a new conversation with a summary of the work`
  if (hasThread === false)
    return `${next} tries that conversation once more, or begins a new one with a summary of the work`
  return `${next} continues that conversation`
}

function isLoopKind({ spec }: Session): boolean {
  return LOOP_KINDS.includes(spec.agent)
}

/** Names the next task: a loop has no conversation, and continues with its list as it is then. */
function describeNextTask({ tasks }: Session): string {
  const open = tasks.filter(({ state }) => state !== 'done')
  const task = open.find(({ state }) => state === 'doing') ?? open[0]
  if (task === undefined) return 'it reads its list and continues with the open tasks'
  return `task ${task.id} ${task.state === 'doing' ? 'continues' : 'is next'}: ${task.title}`
}
