import { loadChannels } from '../../api/config/channels.ts'
import { assertTaskName } from '../../api/config/keys.ts'
import { LOOP_KINDS } from '../../api/contract/agent-kinds.ts'
import type { RunRequest } from '../../api/contract/requests.ts'
import type {
  DaemonView,
  MessageView,
  ResumePreview,
  RestoredView,
  SessionView,
  TaskView,
  ChannelTestView,
} from '../../api/contract/responses.ts'
import { refusal } from '../../api/contract/problems.ts'
import {
  parseImportRequest,
  parseCleanRequest,
  parseNotifyTestRequest,
  parseRenameRequest,
  parseRestoreSavedSessionRequest,
  parseRestoreRequest,
  parseResumeRequest,
  parseRunRequest,
  parseSendRequest,
  parseStopRequest,
  parseTasksRequest,
} from '../../api/contract/request-schemas.ts'
import { isIdle, type Session, type Spec } from '../../core/session/session.ts'
import { describeRequester } from '../../core/session/reactions/stop.ts'
import type { Engine } from '../../engine/engine.ts'
import type { ImportedSession } from '../../engine/create-session.ts'
import { findEnvSecrets } from '../../lib/mask/env-secrets.ts'
import { Mask } from '../../lib/mask/mask.ts'
import { isRefusal } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import { invariant } from '../../lib/errors.ts'
import type { KeyedMutex } from '../../lib/keyed-mutex.ts'
import type { Agent } from '../../ports/agent.ts'
import type { Checkpoints } from '../../ports/checkpoints.ts'
import type { Store } from '../../ports/store.ts'
import { extendSearchPath } from './sessions.ts'
import { describeFileChanges } from './resume.ts'
import { readEnvironment } from '../../views/final-output.ts'
import { buildResumePreview } from '../../views/resume-preview.ts'
import { toMessageView, toSessionView } from '../../views/session-view.ts'
import { toTaskViews } from '../../views/tasks.ts'
import type { Home } from '../../state/home.ts'
import { readTrackerFile } from '../../state/tracker-file.ts'
import { assertNoLoop, resolveTasks } from './tasks.ts'
import { restoreSession, saveSession } from './checkpoints.ts'
import { restoreSavedSession } from './restore.ts'
import { prepareImport } from './import.ts'
import { assertListUnused } from '../loop-list.ts'
import { assertTakesMessages } from './messages.ts'
import { describeMoreWork } from './resume.ts'
import { findChildSession } from './sessions.ts'
import { assertMayWake, assertOwn, type AccessRules, limitToRights } from '../access-control.ts'
import { buildSpec, assertValidEnvironment, assertFolderExists, assertThreadFree, summarize } from '../session-spec.ts'
import type { ProjectFiles } from '../project-files/project-files.ts'

/** Milliseconds for which `run` waits for the program's start; then it returns a session that is still starting. */
const START_TIMEOUT = 2_000

export interface RouteContext {
  readonly home: Home
  readonly store: Store
  readonly engine: Engine
  readonly projectFiles: Pick<ProjectFiles, 'remove'>
  readonly startMutex: KeyedMutex
  readonly agents: (kind: string) => Agent
  readonly checkpoints: Checkpoints
  /** Refuses when this machine cannot start sessions. */
  readonly assertReady: () => Promise<void>
  readonly describe: () => DaemonView
  readonly stop: () => void
  /** Writes a line to the supervisor's log. */
  readonly log: (sentence: string) => void
}

type RouteHandler = (host: RouteContext, body: unknown, id: string, caller: Session | null) => Promise<unknown>

interface Route extends AccessRules {
  readonly handle: RouteHandler
}

/** The contract, one line per route: method and path, handler, and access rules. */
export const ROUTES: Readonly<Record<string, Route>> = {
  'GET /v1/daemon': { handle: async host => host.describe(), full: 'any', confined: 'any' },
  'POST /v1/daemon/stop': { handle: stopDaemon, full: 'never', confined: 'never' },
  'GET /v1/sessions': { handle: listSessions, full: 'any', confined: 'any' },
  'POST /v1/sessions': { handle: runSession, full: 'any', confined: 'any' },
  'POST /v1/sessions/adopt': { handle: importSession, full: 'any', confined: 'never' },
  'POST /v1/sessions/clean': { handle: cleanSessions, full: 'any', confined: 'never' },
  'GET /v1/sessions/:id': { handle: showSession, full: 'any', confined: 'any' },
  'POST /v1/restore': { handle: restoreUnknownSession, full: 'any', confined: 'never' },
  'POST /v1/notify/test': { handle: testChannels, full: 'any', confined: 'never' },
  'POST /v1/sessions/:id/stop': { handle: stopSession, full: 'own', confined: 'own', isEnding: true },
  'POST /v1/sessions/:id/messages': { handle: sendMessage, full: 'own', confined: 'own' },
  'POST /v1/sessions/:id/tasks': { handle: updateTasks, full: 'own', confined: 'own' },
  'POST /v1/sessions/:id/resume': { handle: resumeSession, full: 'own', confined: 'never' },
  'POST /v1/sessions/:id/hold': { handle: holdSession, full: 'own', confined: 'own', isEnding: true },
  'POST /v1/sessions/:id/rename': { handle: renameSession, full: 'own', confined: 'never' },
  'GET /v1/sessions/:id/outlook': { handle: previewResume, full: 'any', confined: 'any' },
  'POST /v1/sessions/:id/checkpoint': { handle: saveCheckpoint, full: 'own', confined: 'own' },
  'POST /v1/sessions/:id/restore': { handle: restoreKnownSession, full: 'own', confined: 'never' },
}

async function listSessions(context: RouteContext): Promise<SessionView[]> {
  return context.store.all().map(session => toSessionView(session, context.home))
}

async function showSession(context: RouteContext, _: unknown, id: string): Promise<SessionView> {
  return toSessionView(loadSession(context, id), context.home)
}

async function stopDaemon(context: RouteContext): Promise<object> {
  setImmediate(context.stop)
  return {}
}

function saveCheckpoint(context: RouteContext, _: unknown, id: string): ReturnType<typeof saveSession> {
  return saveSession(loadSession(context, id), context)
}

function restoreKnownSession(context: RouteContext, body: unknown, id: string): Promise<RestoredView> {
  return restoreSession(loadSession(context, id), parseRestoreRequest(body), context)
}

function restoreUnknownSession(context: RouteContext, body: unknown): Promise<RestoredView> {
  return restoreSavedSession(parseRestoreSavedSessionRequest(body), context)
}

async function runSession(
  context: RouteContext,
  body: unknown,
  _: string,
  caller: Session | null,
): Promise<SessionView> {
  return startSession(context, parseRunRequest(body), { caller })
}

/** Accepts and starts a session, with the imported state if it began elsewhere. */
async function startSession(
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
    const existing = request.parent && findChildSession(request.parent, context.store.all())
    if (existing !== undefined) return { id: existing.spec.id, isUp: Promise.resolve() }
    await settleEndedSessions(context)
    const {
      spec: newSpec,
      prompt,
      thread,
    } = buildSpec(request, {
      agents: context.agents,
      sessions: context.store.all(),
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
  return toSessionView(loadSession(context, started.id), context.home)
}

/** Returns the preview, and continues the session unless the request is a dry run. */
async function importSession(
  context: RouteContext,
  body: unknown,
  _: string,
  caller: Session | null,
): Promise<{ outlook: ResumePreview; session: SessionView | null }> {
  const request = parseImportRequest(body)
  const prepared = await prepareImport(request, context)
  const holder = context.store.live().find(({ spec }) => spec.name === request.name)
  if (holder !== undefined)
    throw refusal(
      'name-taken',
      `a session called ${request.name} is already ${holder.phase.name}`,
      `oneshot stop ${request.name}, then try again`,
    )
  const { preview } = prepared
  if (request.dryRun === true) return { outlook: preview, session: null }
  return {
    outlook: preview,
    session: await startSession(context, prepared.request, { caller, toImported: spec => prepared.toImported(spec) }),
  }
}

/**
 * Closes the panes of ended sessions, because panes carry the session's name, and the new session may take that name.
 */
async function settleEndedSessions(context: RouteContext): Promise<void> {
  const sessionIds = new Set(context.store.pendingEffects().map(item => item.sessionId))
  const ended = [...sessionIds].filter(id => context.store.load(id)?.phase.name === 'ended')
  await Promise.all(ended.map(id => context.engine.observe(id)))
}

async function stopSession(
  context: RouteContext,
  body: unknown,
  id: string,
  caller: Session | null,
): Promise<SessionView> {
  loadSession(context, id)
  const by = caller?.spec.name
  await context.engine.stop(id, { isNow: parseStopRequest(body).now === true, ...(by !== undefined && { by }) })
  return toSessionView(loadSession(context, id), context.home)
}

async function sendMessage(
  context: RouteContext,
  body: unknown,
  id: string,
  caller: Session | null,
): Promise<{ session: SessionView; message: MessageView }> {
  const request = parseSendRequest(body)
  const { spec, phase } = loadSession(context, id)
  if (!context.agents(spec.agent).takesPrompt) {
    throw refusal(
      'takes-no-messages',
      `${spec.name} is a command, and reads no messages`,
      `oneshot attach ${spec.name}`,
    )
  }
  assertTakesMessages(spec, context.store.live())
  const text = Buffer.from(request.text, 'base64')
  if (text.toString('latin1').trim() === '') throw refusal('message-empty', 'the message is empty')
  const summary = summarize(text, new Mask(findEnvSecrets(readEnvironment(context.home, id))))
  const deliver = (): Promise<number> =>
    context.engine.send(id, { key: request.key, gist: summary, text, ...describeSender(caller) })
  const number = phase.name === 'ended' ? await wakeSession(deliver, context, { id, caller }) : await deliver()
  const session = loadSession(context, id)
  const message = session.messages.find(known => known.id === number)
  invariant(message !== undefined, `message ${number} of ${id} was accepted and is not there`)
  return { session: toSessionView(session, context.home), message: toMessageView(message) }
}

/** A loop's messages to its agents count as the user's. */
function describeSender(caller: Session | null): { by?: string } {
  return caller === null || LOOP_KINDS.includes(caller.spec.agent) ? {} : { by: caller.spec.name }
}

async function resumeSession(
  context: RouteContext,
  body: unknown,
  id: string,
  caller: Session | null,
): Promise<SessionView> {
  const request = parseResumeRequest(body)
  const { spec, phase } = loadSession(context, id)
  const { name } = spec
  if (phase.name === 'ended') {
    if (!context.agents(spec.agent).takesPrompt)
      throw refusal('session-ended', `${name} is a command, and is not started twice`, 'oneshot run -- COMMAND again')
    const hasUnread = loadSession(context, id).messages.some(message => message.confirmedAt === null)
    if (phase.outcome === 'done' && !hasUnread) {
      if (request.cwd === undefined) throw refusal('session-done', `${name} is done`, describeMoreWork(spec))
      // The user has moved the project: the engine records the new folder, so that further messages start there.
      assertFolderExists(request.cwd)
      await context.engine.amend(id, { cwd: request.cwd })
      return toSessionView(loadSession(context, id), context.home)
    }
  } else if (!isIdle(loadSession(context, id))) {
    throw refusal('session-running', `${name} is ${phase.name}: there is nothing to resume`, `oneshot status ${name}`)
  }
  if (request.env !== undefined) assertValidEnvironment(request.env)
  const whenStarted = waitUntilStarted(context.engine, id)
  if (request.cwd !== undefined) assertFolderExists(request.cwd)
  const resumeNow = (): Promise<void> => context.engine.resume(id, request)
  await (phase.name === 'ended' ? wakeSession(resumeNow, context, { id, caller, cwd: request.cwd }) : resumeNow())
  await whenStarted
  return toSessionView(loadSession(context, id), context.home)
}

/** Adds the changes to the session's files, and the refusal that a resume would cause. */
async function previewResume(context: RouteContext, _: unknown, id: string): Promise<ResumePreview> {
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

async function updateTasks(context: RouteContext, body: unknown, id: string): Promise<TaskView[]> {
  const request = parseTasksRequest(body)
  assertNoLoop(loadSession(context, id))
  const tracked = readTrackerFile(context.home, id)
  await context.engine.setTasks(id, session => resolveTasks(request, session, tracked))
  return toTaskViews(loadSession(context, id), tracked)
}

async function holdSession(
  context: RouteContext,
  _: unknown,
  id: string,
  caller: Session | null,
): Promise<SessionView> {
  const { spec, phase } = loadSession(context, id)
  if (phase.name === 'ended') throw refusal('session-ended', `${spec.name} has ended`, `oneshot status ${spec.name}`)
  await context.engine.hold(id, caller?.spec.name)
  return toSessionView(loadSession(context, id), context.home)
}

/** Changes the label. The first name stays valid; no other live session may have the new one. */
async function renameSession(context: RouteContext, body: unknown, id: string): Promise<SessionView> {
  const { name } = parseRenameRequest(body)
  const { spec } = loadSession(context, id)
  assertTaskName(name, `oneshot rename ${spec.name}`)
  await context.startMutex.run('run', async () => {
    const others = context.store.live().filter(other => other.spec.id !== id)
    const holder = others.find(other => listNames(other.spec).includes(name))
    if (holder !== undefined)
      throw refusal('name-taken', `${holder.spec.name} is already called ${name}`, `oneshot status ${holder.spec.name}`)
    if (spec.label !== name) await context.engine.amend(id, { label: name })
  })
  return toSessionView(loadSession(context, id), context.home)
}

function listNames({ name, task, label }: Spec): (string | undefined)[] {
  return [name, task, label]
}

/**
 * Wakes under the mutex for new sessions: a woken session needs its name, its folder and a part of its starter's
 * budget.
 */
function wakeSession<T>(
  action: () => Promise<T>,
  context: RouteContext,
  { id, caller, cwd }: { id: string; caller: Session | null; cwd?: string | undefined },
): Promise<T> {
  return context.startMutex.run('run', async () => {
    assertMayWake(loadSession(context, id), caller, context)
    await assertWakable(context, id, cwd)
    return await action()
  })
}

async function assertWakable(context: RouteContext, id: string, cwd?: string): Promise<void> {
  await context.assertReady()
  await settleEndedSessions(context)
  const { spec, thread } = loadSession(context, id)
  assertFolderExists(cwd ?? spec.cwd, `if its project was moved: oneshot resume ${spec.name} --cwd DIR`)
  const others = context.store.live().filter(other => other.spec.id !== id)
  assertListUnused({ ...spec, cwd: cwd ?? spec.cwd }, others)
  if (thread.id !== null) assertThreadFree({ agent: spec.agent, thread: thread.id }, others)
  const holder = others.find(other => other.spec.name === spec.name)
  if (holder === undefined) return
  throw refusal(
    'name-taken',
    `another session is called ${spec.name} now, and is ${holder.phase.name}`,
    `oneshot stop ${spec.name}, then try again`,
  )
}

async function cleanSessions(
  context: RouteContext,
  body: unknown,
  _: string,
  caller: Session | null,
): Promise<{ removed: string[] }> {
  const { ids, checkpoints = false } = parseCleanRequest(body)
  for (const id of ids) assertOwn(id, caller, context.store)
  const removed: string[] = []
  for (const id of ids) {
    if (loadSession(context, id).phase.name !== 'ended') {
      throw refusal(
        'session-alive',
        `${loadSession(context, id).spec.name} has not ended`,
        `oneshot stop ${loadSession(context, id).spec.name}`,
      )
    }
    const { name } = loadSession(context, id).spec
    await context.projectFiles.remove(loadSession(context, id))
    if (!(await context.engine.remove(id, { checkpoints }))) continue
    removed.push(id)
    context.log(`${name} was removed by ${describeRequester(caller?.spec.name)}`)
  }
  return { removed }
}

async function testChannels(context: RouteContext, body: unknown): Promise<ChannelTestView[]> {
  const { channel, tty } = parseNotifyTestRequest(body)
  const names = (await loadChannels(process.env)).map(({ name }) => name)
  if (names.length === 0) {
    const hint = 'write [notify.NAME] into your config file: oneshot config edit'
    throw refusal('no-channel', 'no channel is configured', hint)
  }
  if (channel !== undefined && !names.includes(channel)) {
    const suggestion = didYouMean(channel, names)
    const hint = suggestion === undefined ? `the channels are ${names.join(', ')}` : `did you mean ${suggestion}?`
    throw refusal('no-channel', `there is no channel ${channel}`, hint)
  }
  return context.engine.testChannels(channel === undefined ? names : [channel], tty === undefined ? [] : [tty])
}

function waitUntilStarted(engine: Engine, id: string): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(finish, START_TIMEOUT)
    const unsubscribe = engine.onChange(session => {
      if (session.spec.id === id && session.phase.name !== 'starting') finish()
    })
    function finish(): void {
      clearTimeout(timer)
      unsubscribe()
      resolve()
    }
  })
}

function loadSession(context: RouteContext, id: string): Session {
  const session = context.store.load(id)
  if (session === undefined) throw refusal('no-session', `there is no session ${id}`)
  return session
}
