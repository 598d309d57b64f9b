import type { OutlookView } from '../api/contract/session-view.ts'
import { isIdle, type Session } from '../core/session.ts'
import type { Engine } from '../engine/engine.ts'
import { formatDuration, type Instant } from '../lib/time.ts'

/** What is found of a session, and what resuming it would do. */
export function outlookOn(session: Session, engine: Pick<Engine, 'hasThread'>, now: Instant = Date.now()): OutlookView {
  const hasThread = engine.hasThread(session)
  return { found: [...foundOf(session, hasThread, now)], next: nextOf(session, hasThread) }
}

function* foundOf(session: Session, hasThread: boolean | null, now: Instant): Iterable<string> {
  const { thread, saved, tasks, messages } = session
  if (thread.id !== null) yield `its conversation ${thread.id}${hasThread === false ? ', whose record is gone' : ''}`
  const unread = messages.filter(message => message.confirmedAt === null).length
  if (unread > 0) yield `${unread} ${unread === 1 ? 'message' : 'messages'} that it has not read`
  if (saved.last !== null) {
    const { number, trigger, at } = saved.last
    yield `checkpoint ${number} (${trigger}), made ${formatDuration(Math.max(0, now - at))} ago`
  }
  const open = tasks.filter(({ state }) => state !== 'done').map(({ title }) => title)
  if (open.length > 0) yield `${open.length} of ${tasks.length} tasks open: ${open.slice(0, 3).join('; ')}`
}

function nextOf(session: Session, hasThread: boolean | null): string {
  const { phase, thread, messages, attempt } = session
  if (phase.name !== 'ended' && !isIdle(session)) return 'the work goes on by itself: there is nothing to resume'
  if (phase.name === 'ended' && messages.length === 0) return 'nothing: a command is not started twice'
  const isAllRead = messages.every(message => message.confirmedAt !== null)
  if (phase.name === 'ended' && phase.outcome === 'done' && isAllRead)
    return `nothing: it is done; oneshot send ${session.spec.name} gives it more to do`
  const next = `attempt ${attempt + 1}`
  const wasSpokenTo = messages.some(message => message.confirmedAt !== null)
  if (!wasSpokenTo) return `${next} begins with what it was asked for`
  if (thread.needsDigest || (hasThread === false && thread.id === null))
    return `${next} begins a fresh conversation, which is told what was done`
  if (hasThread === false)
    return `${next} asks for that conversation once more, and else begins a fresh one, which is told what was done`
  return `${next} goes on in that conversation`
}
