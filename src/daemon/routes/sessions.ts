import { assertTaskName } from '../../api/config/keys.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { refusal } from '../../api/contract/problems.ts'
import {
  parseCleanRequest,
  parseRenameRequest,
  parseStopRequest,
  type CleanRequest,
  type RenameRequest,
  type StopRequest,
} from '../../api/contract/requests.ts'
import { parseRunRequest } from '../../api/contract/run-request.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { isSessionId, type SessionId } from '../../core/session/session-id-and-name.ts'
import { describeRequester } from '../../core/session/reactions/stop.ts'
import type { Spec } from '../../core/session/session-state.ts'
import { assertOwn } from '../caller-authorization.ts'
import {
  loadSession,
  loadSessionView,
  parseSessionId,
  route,
  type RouteCall,
  type RouteContext,
  type Routes,
  sessionRoute,
  type SessionRouteCall,
} from './route.ts'
import { startSession } from './start-session.ts'

export const SESSION_ROUTES: Routes = {
  'POST /v1/sessions': route({
    parse: parseRunRequest,
    handle: (context, { body, caller }) => startSession(context, body, { caller }),
    full: 'any',
    confined: 'any',
  }),
  'POST /v1/sessions/clean': route({ parse: parseCleanRequest, handle: cleanSessions, full: 'any', confined: 'never' }),
  'GET /v1/sessions/:id': sessionRoute({
    handle: async (context, { id }) => loadSessionView(context, id),
    full: 'any',
    confined: 'any',
  }),
  'POST /v1/sessions/:id/stop': sessionRoute({
    parse: parseStopRequest,
    handle: stopSession,
    full: 'own',
    confined: 'own',
    isEnding: true,
  }),
  'POST /v1/sessions/:id/hold': sessionRoute({ handle: holdSession, full: 'own', confined: 'own', isEnding: true }),
  'POST /v1/sessions/:id/rename': sessionRoute({
    parse: parseRenameRequest,
    handle: renameSession,
    full: 'own',
    confined: 'never',
  }),
}

async function stopSession(
  context: RouteContext,
  { body, id, caller }: SessionRouteCall<StopRequest>,
): Promise<SessionView> {
  loadSession(context, id)
  const by = caller?.spec.name
  await context.engine.stop(id, { isNow: body.now === true, ...(by !== undefined && { by }) })
  return loadSessionView(context, id)
}

async function holdSession(context: RouteContext, { id, caller }: SessionRouteCall<undefined>): Promise<SessionView> {
  const { spec, phase } = loadSession(context, id)
  if (phase.name === 'ended')
    throw refusal('session-ended', `${shownName(spec)} has ended`, `oneshot status ${shownName(spec)}`)
  await context.engine.hold(id, caller?.spec.name)
  return loadSessionView(context, id)
}

/** Changes the label. The first name stays valid; no other live session may have the new one. */
async function renameSession(
  context: RouteContext,
  { body, id }: SessionRouteCall<RenameRequest>,
): Promise<SessionView> {
  const { name } = body
  const { spec } = loadSession(context, id)
  assertTaskName(name, `oneshot rename ${shownName(spec)}`)
  await context.startMutex.run('run', async () => {
    const others = context.store.live().filter(other => other.spec.id !== id)
    const holder = others.find(other => listNames(other.spec).includes(name))
    if (holder !== undefined)
      throw refusal(
        'name-taken',
        `${holder.spec.name} is already called ${name}`,
        `oneshot status ${shownName(holder.spec)}`,
      )
    if (spec.label !== name) await context.engine.amend(id, { label: name })
  })
  return loadSessionView(context, id)
}

function listNames({ name, task, label }: Spec): (string | undefined)[] {
  return [name, task, label]
}

/** Removes an ended session and its files. Its checkpoints stay in git unless the caller asks for their removal. */
export async function removeSession(
  context: Pick<RouteContext, 'store' | 'engine' | 'projectFiles'>,
  id: SessionId,
  { checkpoints = false } = {},
): Promise<boolean> {
  const session = context.store.load(id)
  if (session?.phase.name !== 'ended') return false
  await context.projectFiles.remove(session)
  return await context.engine.remove(id, { checkpoints })
}

async function cleanSessions(
  context: RouteContext,
  { body, caller }: RouteCall<CleanRequest>,
): Promise<{ removed: string[] }> {
  const { ids, checkpoints = false } = body
  for (const id of ids.filter(isSessionId)) assertOwn(id, caller, context.store)
  const removed: string[] = []
  for (const text of ids) {
    const id = parseSessionId(text)
    if (loadSession(context, id).phase.name !== 'ended') {
      throw refusal(
        'session-alive',
        `${shownName(loadSession(context, id).spec)} has not ended`,
        `oneshot stop ${shownName(loadSession(context, id).spec)}`,
      )
    }
    const { name } = loadSession(context, id).spec
    if (!(await removeSession(context, id, { checkpoints }))) continue
    removed.push(id)
    context.log(`${name} was removed by ${describeRequester(caller?.spec.name)}`)
  }
  return { removed }
}
