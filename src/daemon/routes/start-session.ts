import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { isSessionId, type SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session, Spec } from '../../core/session/session-state.ts'
import type { ImportedSession } from '../../engine/store-imported-session.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Store } from '../../ports/store.ts'
import { which } from '../../os/which.ts'
import { limitToRights } from '../caller-authorization.ts'
import { buildSpec } from '../session-spec.ts'
import { loadSessionView, type RouteContext } from './route.ts'

/** Milliseconds for which `run` waits for the program's start; then it returns a session that is still starting. */
const START_TIMEOUT = 2_000

/** Accepts and starts a session, with the imported state if it began elsewhere. */
export async function startSession(
  context: RouteContext,
  requested: RunRequest,
  options: { caller: Session | null; toImported?: (spec: Spec) => ImportedSession },
): Promise<SessionView> {
  // A session must not choose which programs the supervisor finds.
  if (options.caller === null) extendSearchPath(requested.env['PATH'], process.env)
  await context.assertReady()
  // The mutex keeps a free name free until this session takes it, and prevents two sessions from receiving the same
  // part of a budget.
  const started = await context.startMutex.run('run', async () => {
    const request = limitToRights(requested, options.caller, context)
    const existing = request.parent && findChildSession(request.parent, context.store)
    if (existing !== undefined) return { id: existing.spec.id, isUp: Promise.resolve() }
    await settleEndedSessions(context)
    const {
      spec: newSpec,
      prompt,
      thread,
    } = buildSpec(request, {
      agents: context.agents,
      live: context.store.live(),
      isNameUsed: name => context.store.isNameUsed(name),
      now: Date.now(),
    })
    const spec = options.caller === null ? newSpec : { ...newSpec, startedBy: options.caller.spec.id }
    const imported = options.toImported?.(spec)
    const whenStarted = waitUntilStarted(context.engine, spec.id)
    await context.engine.create(
      spec,
      { prompt, env: request.env },
      {
        ...(thread !== undefined && { thread }),
        ...(imported !== undefined && { imported }),
      },
    )
    return { id: spec.id, isUp: whenStarted }
  })
  await started.isUp
  return loadSessionView(context, started.id)
}

/**
 * Closes the panes of ended sessions, because panes carry the session's name, and the new session may take that name.
 */
export async function settleEndedSessions(context: RouteContext): Promise<void> {
  const sessionIds = new Set(context.store.pendingEffects().map(item => item.sessionId))
  const ended = [...sessionIds].filter(id => context.store.load(id)?.phase.name === 'ended')
  await Promise.all(ended.map(id => context.engine.observe(id)))
}

export function waitUntilStarted(engine: Engine, id: SessionId): Promise<void> {
  return waitWhile('starting', engine, id)
}

/** Waits until the session has left this phase, at most for the time of a start. */
export function waitWhile(phase: Session['phase']['name'], engine: Engine, id: SessionId): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(finish, START_TIMEOUT)
    const unsubscribe = engine.onChange(session => {
      if (session.spec.id === id && session.phase.name !== phase) finish()
    })
    function finish(): void {
      clearTimeout(timer)
      unsubscribe()
      resolve()
    }
  })
}

/**
 * Returns the child session with this key, if it exists. Refuses when the parent is missing or may start no more
 * sessions.
 */
export function findChildSession(
  { id, key }: NonNullable<RunRequest['parent']>,
  store: Pick<Store, 'load' | 'findChild'>,
): Session | undefined {
  const parentSession = isSessionId(id) ? store.load(id) : undefined
  if (parentSession === undefined) throw refusal('no-session', `there is no session ${id} to start another one`)
  const existing = store.findChild(parentSession.spec.id, key)
  if (existing === undefined && (parentSession.phase.name === 'ended' || parentSession.wanted === 'stop'))
    throw refusal('session-ended', `${parentSession.spec.name} has ended, and starts no others`)
  return existing
}

/** Programs that the supervisor itself runs. */
const REQUIRED_PROGRAMS = ['tmux', 'git'] as const

/**
 * Adds the caller's PATH to the supervisor's own if that lacks a required program. The supervisor keeps the PATH of its
 * start, and the user may have installed the program since or elsewhere.
 */
export function extendSearchPath(callerPath: string | undefined, env: NodeJS.ProcessEnv): void {
  if (callerPath === undefined || callerPath === env['PATH']) return
  const isOnlyOnCallerPath = (program: string): boolean =>
    which(program, env, '/') === undefined && which(program, { PATH: callerPath }, '/') !== undefined
  if (REQUIRED_PROGRAMS.some(isOnlyOnCallerPath)) env['PATH'] = [env['PATH'], callerPath].filter(Boolean).join(':')
}
