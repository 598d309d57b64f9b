import { LOOP_KINDS } from '../../api/contract/known-agents.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { refusal } from '../../api/contract/problems.ts'
import { parseResumeRequest, type ResumeRequest } from '../../api/contract/requests.ts'
import type { ResumePreview, SessionView } from '../../api/contract/responses.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { isIdle, publicPhase, type Session, type Spec } from '../../core/session/session-state.ts'
import { isRefusal, Trouble } from '../../lib/errors.ts'
import { type CheckpointReader, checkpointTargetOf, NotSaved } from '../../ports/checkpoints.ts'
import { buildResumePreview } from '../../views/resume-preview.ts'
import { assertMayWake } from '../caller-authorization.ts'
import { assertListUnused, parseListPath } from '../refuse-conflicting-loop.ts'
import { assertFolderExists, assertThreadFree, assertValidEnvironment } from '../session-spec.ts'
import {
  loadSession,
  loadSessionView,
  type RouteContext,
  type Routes,
  sessionRoute,
  type SessionRouteCall,
} from './route.ts'
import { settleEndedSessions, waitUntilStarted, waitWhile } from './start-session.ts'

export const RESUME_ROUTES: Routes = {
  'POST /v1/sessions/:id/resume': sessionRoute({
    parse: parseResumeRequest,
    handle: resumeSession,
    full: 'own',
    confined: 'never',
  }),
  'GET /v1/sessions/:id/outlook': sessionRoute({ handle: previewResume, full: 'any', confined: 'any' }),
}

async function resumeSession(
  context: RouteContext,
  { body: request, id, caller }: SessionRouteCall<ResumeRequest>,
): Promise<SessionView> {
  const isBetweenAttempts = await waitBetweenAttempts(context, id)
  const { spec, phase } = loadSession(context, id)
  const name = shownName(spec)
  if (phase.name === 'ended') {
    if (!context.agents(spec.agent).takesPrompt)
      throw refusal('session-ended', `${name} is a command, and is not started twice`, 'oneshot run -- COMMAND again')
    const hasUnread = loadSession(context, id).messages.some(message => message.confirmedAt === null)
    if (phase.outcome === 'done' && !hasUnread) {
      if (request.cwd === undefined) throw refusal('session-done', `${name} is done`, describeMoreWork(spec))
      // The user has moved the project: the engine records the new folder, so that further messages start there.
      assertFolderExists(request.cwd)
      await context.engine.amend(id, { cwd: request.cwd })
      return loadSessionView(context, id)
    }
  } else if (!isIdle(loadSession(context, id))) {
    if (isBetweenAttempts && (phase.name === 'starting' || phase.name === 'running'))
      return loadSessionView(context, id)
    throw refusal(
      'session-running',
      `${name} is ${publicPhase(phase)}: there is nothing to resume`,
      `oneshot status ${name}`,
    )
  }
  if (request.env !== undefined) assertValidEnvironment(request.env)
  const whenStarted = waitUntilStarted(context.engine, id)
  if (request.cwd !== undefined) assertFolderExists(request.cwd)
  const resumeNow = (): Promise<void> => context.engine.resume(id, request)
  await (phase.name === 'ended' ? wakeSession(resumeNow, context, { id, caller, cwd: request.cwd }) : resumeNow())
  await whenStarted
  return loadSessionView(context, id)
}

/**
 * Waits while the supervisor ends the processes of an attempt after which the session continues or is held. Returns
 * false if the session is not in this state.
 */
async function waitBetweenAttempts(context: RouteContext, id: SessionId): Promise<boolean> {
  const { phase } = loadSession(context, id)
  if (phase.name !== 'stopping' || phase.next.kind === 'end') return false
  await waitWhile('stopping', context.engine, id)
  return true
}

/** Adds the changes to the session's files, and the refusal that a resume would cause. */
async function previewResume(context: RouteContext, { id }: SessionRouteCall<undefined>): Promise<ResumePreview> {
  const session = loadSession(context, id)
  const { found, next } = buildResumePreview(session, context.engine.hasThread(session))
  const files = await describeFileChanges(session, context.checkpoints)
  try {
    if (session.phase.name === 'ended') await assertWakable(context, id)
    return { found: [...found, ...files], next }
  } catch (cause) {
    if (!isRefusal(cause)) throw cause
    return { found: [...found, ...files], next: `nothing: ${cause.message} (${cause.hint})` }
  }
}

/**
 * Wakes under the mutex for new sessions: a woken session needs its name, its folder and a part of its starter's
 * budget.
 */
export function wakeSession<T>(
  action: () => Promise<T>,
  context: RouteContext,
  { id, caller, cwd }: { id: SessionId; caller: Session | null; cwd?: string | undefined },
): Promise<T> {
  return context.startMutex.run('run', async () => {
    assertMayWake(loadSession(context, id), caller, context)
    await assertWakable(context, id, cwd)
    return await action()
  })
}

async function assertWakable(context: RouteContext, id: SessionId, cwd?: string): Promise<void> {
  await context.assertReady()
  await settleEndedSessions(context)
  const { spec, thread } = loadSession(context, id)
  assertFolderExists(cwd ?? spec.cwd, `if its project was moved: oneshot resume ${shownName(spec)} --cwd DIR`)
  const others = context.store.live().filter(other => other.spec.id !== id)
  assertListUnused({ ...spec, cwd: cwd ?? spec.cwd }, others)
  if (thread.id !== null) assertThreadFree({ agent: spec.agent, thread: thread.id }, others)
  const holder = others.find(other => other.spec.name === spec.name)
  if (holder === undefined) return
  throw refusal(
    'name-taken',
    `another session is called ${spec.name} now, and is ${publicPhase(holder.phase)}`,
    `oneshot stop ${spec.name}, then try again`,
  )
}

/** Describes the changes to an inactive session's files since its last checkpoint, one sentence each. */
async function describeFileChanges(session: Session, checkpoints: CheckpointReader): Promise<string[]> {
  const { spec, phase, saved } = session
  if (saved.last === null || (phase.name !== 'ended' && !isIdle(session))) return []
  const target = checkpointTargetOf(spec)
  try {
    const last = (await checkpoints.list(target)).at(-1)
    if (last === undefined) return [`its checkpoints are gone from ${spec.cwd}`]
    const { change, head } = await checkpoints.compareWorktree(target, last)
    const { files } = change
    const difference = `${files === 1 ? '1 file differs' : `${files} files differ`} from checkpoint ${last.number}`
    return [
      ...(files === 0 ? [] : [difference]),
      ...(head === last.head ? [] : [`HEAD is at ${shortCommit(head)}, and was at ${shortCommit(last.head)} then`]),
    ]
  } catch (cause) {
    if (cause instanceof NotSaved) return [`${cause.message}: nothing can be saved`]
    if (cause instanceof Trouble) return []
    throw cause
  }
}

function shortCommit(head: string | null): string {
  return head === null ? 'no commit' : head.slice(0, 10)
}

/**
 * Describes how to give a finished session more work. A loop takes more work through its list, because only its agents
 * read messages.
 */
function describeMoreWork(spec: Spec): string {
  const { agent, argv } = spec
  if (!LOOP_KINDS.includes(agent)) return `give it more to do: oneshot send ${shownName(spec)} "…"`
  const list = parseListPath({ argv })
  return `${list === null ? 'open another issue' : `add a box to ${list}`}, then: oneshot ralph`
}
