import { refusal } from '../api/contract/problems.ts'
import type { RetriedView } from '../api/contract/loop-view.ts'
import type { LoopTask } from '../core/loop/loop-state.ts'
import { resetForRetry } from '../core/loop/task-retries.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import { formatCommandLine } from '../lib/text/shell-words.ts'
import type { Home } from '../state/home.ts'
import { readLoopOrThrow, writeLoop } from '../state/loop-file.ts'
import { readStoredSession } from '../world/store/reader.ts'

/** Reopens a task of a stopped loop. The loop works on it after a resume. */
export function retryTask(
  home: Home,
  sessionId: SessionId,
  wanted: string,
  options: { isFresh: boolean },
): RetriedView {
  const session = readStoredSession(home, sessionId)
  const loop = readLoopOrThrow(home, sessionId)
  if (session === undefined || loop === undefined) throw refusal('no-task', 'this loop has not read its list yet')
  const { name } = session.spec
  const { phase } = session
  if (phase.name !== 'ended' && phase.name !== 'blocked')
    throw refusal('session-running', `${name} is running`, `oneshot stop ${name}, then try again`)
  const task = loop.tasks.find(({ item }) => item.label === wanted)
  const known = loop.tasks.map(({ item }) => item.label).join(', ')
  if (task === undefined) throw refusal('no-task', `${name} has no task ${wanted}`, `its tasks are ${known}`)
  const isLoopDone = phase.name === 'ended' && phase.outcome === 'done'
  assertOpen(task, loop.spec.list, isLoopDone ? null : `oneshot resume ${name}`)
  writeLoop(home, sessionId, resetForRetry(loop, task.item.key, options))
  const left = options.isFresh && !task.isWorktreeRemoved ? (task.checkout?.branch ?? null) : null
  return { name, task: { id: task.item.label, title: task.item.title }, left }
}

/** A ticked box means done, even if our record differs. A loop that is done cannot be resumed: a new one starts. */
function assertOpen({ item, state }: LoopTask, list: string | null, resume: string | null): void {
  if (state.name !== 'done') return
  const how = list === null ? 'open its issue again' : `untick its box in ${list}`
  const start = formatCommandLine(['oneshot', 'ralph', ...(list === null ? [] : [list])])
  throw refusal('session-done', `task ${item.label} is done`, `${how}, then: ${resume ?? start}`)
}
