import { loadChannels } from '../api/config/channels.ts'
import { checkTaskName } from '../api/config/check-task-name.ts'
import { LOOP_KINDS } from '../api/contract/agent-kinds.ts'
import type { RunRequest } from '../api/contract/requests.ts'
import type {
  DaemonView,
  MessageView,
  OutlookView,
  RestoredView,
  SessionView,
  TaskView,
  TrialView,
} from '../api/contract/session-view.ts'
import { refusal } from '../api/contract/problems.ts'
import {
  parseAdoptRequest,
  parseCleanRequest,
  parseNotifyTestRequest,
  parseRenameRequest,
  parseRestoreKeptRequest,
  parseRestoreRequest,
  parseResumeRequest,
  parseRunRequest,
  parseSendRequest,
  parseStopRequest,
  parseTasksRequest,
} from '../api/contract/schemas.ts'
import { isIdle, type Session, type Spec } from '../core/session.ts'
import { whoIs } from '../core/stopping.ts'
import type { Engine } from '../engine/engine.ts'
import type { Legacy } from '../engine/legacy.ts'
import { secretsIn } from '../lib/mask/env-secrets.ts'
import { Mask } from '../lib/mask/mask.ts'
import { isRefusal } from '../lib/refusal.ts'
import { nearest } from '../lib/nearest.ts'
import { invariant } from '../lib/trouble.ts'
import type { Turnstile } from '../lib/turnstile.ts'
import type { Agent } from '../ports/agent.ts'
import type { Checkpoints } from '../ports/checkpoints.ts'
import type { Store } from '../ports/store.ts'
import { adoptPath } from './adopt-path.ts'
import { filesSince } from './files-since.ts'
import { environmentOf } from '../views/last-words.ts'
import { outlookOn } from '../views/outlook.ts'
import { messageView, viewOf } from '../views/session-view.ts'
import { taskViews } from '../views/tasks.ts'
import type { Home } from '../world/os/home.ts'
import { readTracked } from '../world/os/tracker-file.ts'
import { assertOwnTasks, tasksNamed } from './tasks-named.ts'
import { bringBack, saveNow } from './keep.ts'
import { restoreKept } from './restore-kept.ts'
import { estateOf } from './estate.ts'
import { assertListFree } from './assert-list-free.ts'
import { assertReader } from './assert-reader.ts'
import { moreFor } from './more-for.ts'
import { childOf } from './child-of.ts'
import { assertMayWake, assertOwn, type Rights, withinRights } from './rights.ts'
import { accept, assertEnvironment, assertFolder, assertThreadFree, gistOf } from './accept.ts'
import type { Scribe } from './scribe/scribe.ts'

/** How long `run` waits for the program to live before it answers with a session that is still starting. */
const START_PATIENCE = 2_000

export interface Host {
  readonly home: Home
  readonly store: Store
  readonly engine: Engine
  readonly scribe: Pick<Scribe, 'remove'>
  readonly admission: Turnstile
  readonly agents: (kind: string) => Agent
  readonly checkpoints: Checkpoints
  /** Refuses when no work can be started on this machine. */
  readonly assertReady: () => Promise<void>
  readonly about: () => DaemonView
  readonly stop: () => void
  /** Writes a line of the supervisor's log. */
  readonly say: (sentence: string) => void
}

type Answer = (host: Host, body: unknown, id: string, caller: Session | null) => Promise<unknown>

interface Route extends Rights {
  readonly answer: Answer
}

/** The contract, one line each: method and path, what answers it, and which sessions may use it. */
export const ROUTES: Readonly<Record<string, Route>> = {
  'GET /v1/daemon': { answer: async host => host.about(), full: 'any', confined: 'any' },
  'POST /v1/daemon/stop': { answer: stopSupervisor, full: 'never', confined: 'never' },
  'GET /v1/sessions': { answer: list, full: 'any', confined: 'any' },
  'POST /v1/sessions': { answer: run, full: 'any', confined: 'any' },
  'POST /v1/sessions/adopt': { answer: takeOver, full: 'any', confined: 'never' },
  'POST /v1/sessions/clean': { answer: clean, full: 'any', confined: 'never' },
  'GET /v1/sessions/:id': { answer: show, full: 'any', confined: 'any' },
  'POST /v1/restore': { answer: restoreOther, full: 'any', confined: 'never' },
  'POST /v1/notify/test': { answer: testNotify, full: 'any', confined: 'never' },
  'POST /v1/sessions/:id/stop': { answer: stop, full: 'own', confined: 'own', isEnding: true },
  'POST /v1/sessions/:id/messages': { answer: send, full: 'own', confined: 'own' },
  'POST /v1/sessions/:id/tasks': { answer: nameTasks, full: 'own', confined: 'own' },
  'POST /v1/sessions/:id/resume': { answer: resume, full: 'own', confined: 'never' },
  'POST /v1/sessions/:id/hold': { answer: hold, full: 'own', confined: 'own', isEnding: true },
  'POST /v1/sessions/:id/rename': { answer: rename, full: 'own', confined: 'never' },
  'GET /v1/sessions/:id/outlook': { answer: outlook, full: 'any', confined: 'any' },
  'POST /v1/sessions/:id/checkpoint': { answer: checkpoint, full: 'own', confined: 'own' },
  'POST /v1/sessions/:id/restore': { answer: restore, full: 'own', confined: 'never' },
}

async function list(host: Host): Promise<SessionView[]> {
  return host.store.all().map(session => viewOf(session, host.home))
}

async function show(host: Host, _: unknown, id: string): Promise<SessionView> {
  return viewOf(sessionOf(host, id), host.home)
}

async function stopSupervisor(host: Host): Promise<object> {
  setImmediate(host.stop)
  return {}
}

function checkpoint(host: Host, _: unknown, id: string): ReturnType<typeof saveNow> {
  return saveNow(sessionOf(host, id), host)
}

function restore(host: Host, body: unknown, id: string): Promise<RestoredView> {
  return bringBack(sessionOf(host, id), parseRestoreRequest(body), host)
}

function restoreOther(host: Host, body: unknown): Promise<RestoredView> {
  return restoreKept(parseRestoreKeptRequest(body), host)
}

async function run(host: Host, body: unknown, _: string, caller: Session | null): Promise<SessionView> {
  return begin(host, parseRunRequest(body), { caller })
}

/** Accepts and starts a session; one that was begun elsewhere with what is left of it. */
async function begin(
  host: Host,
  wanted: RunRequest,
  given: { caller: Session | null; legacyOf?: (spec: Spec) => Legacy },
): Promise<SessionView> {
  // A session must not choose which programs the supervisor finds.
  if (given.caller === null) adoptPath(wanted.env['PATH'], process.env)
  await host.assertReady()
  // One at a time: a name that was free is still free when it is taken, and no part of a budget is given to two.
  const started = await host.admission.pass('run', async () => {
    const request = withinRights(wanted, given.caller, host)
    const twin = request.parent && childOf(request.parent, host.store.all())
    if (twin !== undefined) return { id: twin.spec.id, isUp: Promise.resolve() }
    await settleEnded(host)
    const {
      spec: asked,
      prompt,
      thread,
    } = accept(request, {
      agents: host.agents,
      sessions: host.store.all(),
      now: Date.now(),
    })
    const spec = given.caller === null ? asked : { ...asked, startedBy: given.caller.spec.id }
    const legacy = given.legacyOf?.(spec)
    const isUp = untilStarted(host.engine, spec.id)
    await host.engine.create(
      spec,
      { prompt, env: request.env },
      {
        ...(thread !== undefined && { thread }),
        ...(legacy !== undefined && { legacy }),
      },
    )
    return { id: spec.id, isUp }
  })
  await started.isUp
  return viewOf(sessionOf(host, started.id), host.home)
}

/** What is found is told, and then gone on with. */
async function takeOver(
  host: Host,
  body: unknown,
  _: string,
  caller: Session | null,
): Promise<{ outlook: OutlookView; session: SessionView | null }> {
  const request = parseAdoptRequest(body)
  const estate = await estateOf(request, host)
  const holder = host.store.live().find(({ spec }) => spec.name === request.name)
  if (holder !== undefined)
    throw refusal(
      'name-taken',
      `a session called ${request.name} is already ${holder.phase.name}`,
      `oneshot stop ${request.name}, then try again`,
    )
  const { outlook: prospect } = estate
  if (request.dryRun === true) return { outlook: prospect, session: null }
  return {
    outlook: prospect,
    session: await begin(host, estate.request, { caller, legacyOf: spec => estate.legacy(spec) }),
  }
}

/** A session's panes go by its name: they are closed before another can have it. */
async function settleEnded(host: Host): Promise<void> {
  const pending = new Set(host.store.pending().map(item => item.sessionId))
  const ended = [...pending].filter(id => host.store.load(id)?.phase.name === 'ended')
  await Promise.all(ended.map(id => host.engine.look(id)))
}

async function stop(host: Host, body: unknown, id: string, caller: Session | null): Promise<SessionView> {
  sessionOf(host, id)
  const by = caller?.spec.name
  await host.engine.stop(id, { isNow: parseStopRequest(body).now === true, ...(by !== undefined && { by }) })
  return viewOf(sessionOf(host, id), host.home)
}

async function send(
  host: Host,
  body: unknown,
  id: string,
  caller: Session | null,
): Promise<{ session: SessionView; message: MessageView }> {
  const request = parseSendRequest(body)
  const { spec, phase } = sessionOf(host, id)
  if (!host.agents(spec.agent).takesPrompt) {
    throw refusal(
      'takes-no-messages',
      `${spec.name} is a command, and reads no messages`,
      `oneshot attach ${spec.name}`,
    )
  }
  assertReader(spec, host.store.live())
  const text = Buffer.from(request.text, 'base64')
  if (text.toString('latin1').trim() === '') throw refusal('message-empty', 'the message is empty')
  const gist = gistOf(text, new Mask(secretsIn(environmentOf(host.home, id))))
  const give = (): Promise<number> => host.engine.send(id, { key: request.key, gist, text, ...senderOf(caller) })
  const number = phase.name === 'ended' ? await wakeBy(give, host, { id, caller }) : await give()
  const session = sessionOf(host, id)
  const message = session.messages.find(known => known.id === number)
  invariant(message !== undefined, `message ${number} of ${id} was accepted and is not there`)
  return { session: viewOf(session, host.home), message: messageView(message) }
}

/** Those who work for a loop are told by it as by their user. */
function senderOf(caller: Session | null): { by?: string } {
  return caller === null || LOOP_KINDS.includes(caller.spec.agent) ? {} : { by: caller.spec.name }
}

async function resume(host: Host, body: unknown, id: string, caller: Session | null): Promise<SessionView> {
  const request = parseResumeRequest(body)
  const { spec, phase } = sessionOf(host, id)
  const { name } = spec
  if (phase.name === 'ended') {
    if (!host.agents(spec.agent).takesPrompt)
      throw refusal('session-ended', `${name} is a command, and is not started twice`, 'oneshot run -- COMMAND again')
    const hasMore = sessionOf(host, id).messages.some(message => message.confirmedAt === null)
    if (phase.outcome === 'done' && !hasMore) {
      if (request.cwd === undefined) throw refusal('session-done', `${name} is done`, moreFor(spec))
      // Its project was moved: that is recorded, so that it can be sent more work there.
      assertFolder(request.cwd)
      await host.engine.amend(id, { cwd: request.cwd })
      return viewOf(sessionOf(host, id), host.home)
    }
  } else if (!isIdle(sessionOf(host, id))) {
    throw refusal('session-running', `${name} is ${phase.name}: there is nothing to resume`, `oneshot status ${name}`)
  }
  if (request.env !== undefined) assertEnvironment(request.env)
  const isUp = untilStarted(host.engine, id)
  if (request.cwd !== undefined) assertFolder(request.cwd)
  const goOn = (): Promise<void> => host.engine.resume(id, request)
  await (phase.name === 'ended' ? wakeBy(goOn, host, { id, caller, cwd: request.cwd }) : goOn())
  await isUp
  return viewOf(sessionOf(host, id), host.home)
}

/** With what has become of its files, and with what it would be refused for. */
async function outlook(host: Host, _: unknown, id: string): Promise<OutlookView> {
  const session = sessionOf(host, id)
  const { found, next } = outlookOn(session, host.engine.hasThread(session))
  const files = await filesSince(session, host.checkpoints)
  try {
    if (session.phase.name === 'ended') await assertWakable(host, id)
    return { found: [...found, ...files], next }
  } catch (cause) {
    if (!isRefusal(cause)) throw cause
    return { found: [...found, ...files], next: `nothing: ${cause.message} (${cause.hint})` }
  }
}

async function nameTasks(host: Host, body: unknown, id: string): Promise<TaskView[]> {
  const request = parseTasksRequest(body)
  assertOwnTasks(sessionOf(host, id))
  const tracked = readTracked(host.home, id)
  await host.engine.nameTasks(id, session => tasksNamed(request, session, tracked))
  return taskViews(sessionOf(host, id), tracked)
}

async function hold(host: Host, _: unknown, id: string, caller: Session | null): Promise<SessionView> {
  const { spec, phase } = sessionOf(host, id)
  if (phase.name === 'ended') throw refusal('session-ended', `${spec.name} has ended`, `oneshot status ${spec.name}`)
  await host.engine.hold(id, caller?.spec.name)
  return viewOf(sessionOf(host, id), host.home)
}

/** Its first name stays valid; what lives or is listed under the new one may not be another session. */
async function rename(host: Host, body: unknown, id: string): Promise<SessionView> {
  const { name } = parseRenameRequest(body)
  const { spec } = sessionOf(host, id)
  checkTaskName(name, `oneshot rename ${spec.name}`)
  await host.admission.pass('run', async () => {
    const others = host.store.live().filter(other => other.spec.id !== id)
    const holder = others.find(other => namesOf(other.spec).includes(name))
    if (holder !== undefined)
      throw refusal('name-taken', `${holder.spec.name} is already called ${name}`, `oneshot status ${holder.spec.name}`)
    if (spec.label !== name) await host.engine.amend(id, { label: name })
  })
  return viewOf(sessionOf(host, id), host.home)
}

function namesOf({ name, task, label }: Spec): (string | undefined)[] {
  return [name, task, label]
}

/** One at a time with new ones: a session that wakes needs its name and its folder back, and a part of its starter's budget. */
function wakeBy<T>(
  deed: () => Promise<T>,
  host: Host,
  { id, caller, cwd }: { id: string; caller: Session | null; cwd?: string | undefined },
): Promise<T> {
  return host.admission.pass('run', async () => {
    assertMayWake(sessionOf(host, id), caller, host)
    await assertWakable(host, id, cwd)
    return await deed()
  })
}

async function assertWakable(host: Host, id: string, cwd?: string): Promise<void> {
  await host.assertReady()
  await settleEnded(host)
  const { spec, thread } = sessionOf(host, id)
  assertFolder(cwd ?? spec.cwd, `if its project was moved: oneshot resume ${spec.name} --cwd DIR`)
  const others = host.store.live().filter(other => other.spec.id !== id)
  assertListFree({ ...spec, cwd: cwd ?? spec.cwd }, others)
  if (thread.id !== null) assertThreadFree({ agent: spec.agent, thread: thread.id }, others)
  const holder = others.find(other => other.spec.name === spec.name)
  if (holder === undefined) return
  throw refusal(
    'name-taken',
    `another session is called ${spec.name} now, and is ${holder.phase.name}`,
    `oneshot stop ${spec.name}, then try again`,
  )
}

async function clean(host: Host, body: unknown, _: string, caller: Session | null): Promise<{ removed: string[] }> {
  const { ids, checkpoints = false } = parseCleanRequest(body)
  for (const id of ids) assertOwn(id, caller, host.store)
  const removed: string[] = []
  for (const id of ids) {
    if (sessionOf(host, id).phase.name !== 'ended') {
      throw refusal(
        'session-alive',
        `${sessionOf(host, id).spec.name} has not ended`,
        `oneshot stop ${sessionOf(host, id).spec.name}`,
      )
    }
    const { name } = sessionOf(host, id).spec
    await host.scribe.remove(sessionOf(host, id))
    if (!(await host.engine.remove(id, { checkpoints }))) continue
    removed.push(id)
    host.say(`${name} was removed by ${whoIs(caller?.spec.name)}`)
  }
  return { removed }
}

async function testNotify(host: Host, body: unknown): Promise<TrialView[]> {
  const { channel, tty } = parseNotifyTestRequest(body)
  const names = (await loadChannels(process.env)).map(({ name }) => name)
  if (names.length === 0) {
    const hint = 'write [notify.NAME] into your config file: oneshot config edit'
    throw refusal('no-channel', 'no channel is configured', hint)
  }
  if (channel !== undefined && !names.includes(channel)) {
    const meant = nearest(channel, names)
    const hint = meant === undefined ? `the channels are ${names.join(', ')}` : `did you mean ${meant}?`
    throw refusal('no-channel', `there is no channel ${channel}`, hint)
  }
  return host.engine.testChannels(channel === undefined ? names : [channel], tty === undefined ? [] : [tty])
}

function untilStarted(engine: Engine, id: string): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(finish, START_PATIENCE)
    const forget = engine.onChange(session => {
      if (session.spec.id === id && session.phase.name !== 'starting') finish()
    })
    function finish(): void {
      clearTimeout(timer)
      forget()
      resolve()
    }
  })
}

function sessionOf(host: Host, id: string): Session {
  const session = host.store.load(id)
  if (session === undefined) throw refusal('no-session', `there is no session ${id}`)
  return session
}
