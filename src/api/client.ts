import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '../lib/refusal.ts'
import type { Duration } from '../lib/time.ts'
import { hasCode, wordsOf } from '../lib/trouble.ts'
import { refusal } from './contract/problems.ts'
import type {
  AdoptRequest,
  CleanRequest,
  NotifyTestRequest,
  RestoreKeptRequest,
  RestoreRequest,
  RenameRequest,
  ResumeRequest,
  RunRequest,
  SendRequest,
  StopRequest,
  TasksRequest,
} from './contract/requests.ts'
import type {
  CheckpointView,
  DaemonView,
  MessageView,
  OutlookView,
  RestoredView,
  SessionView,
  TaskView,
  TrialView,
} from './contract/session-view.ts'

/** The daemon's API over its unix socket. Every call has a time limit, and refusals arrive as they were thrown there. */
export interface Client {
  /** Undefined when nobody listens. Refuses when somebody does and does not answer. */
  findDaemon(): Promise<DaemonView | undefined>
  stopDaemon(): Promise<void>
  run(request: RunRequest): Promise<SessionView>
  /** Returns as soon as the wish is recorded. */
  stop(id: string, request?: StopRequest): Promise<SessionView>
  /** Returns when the message is on disk. The same key may be sent again: it stays one message. */
  send(id: string, request: SendRequest): Promise<{ session: SessionView; message: MessageView }>
  /** Takes up a session that has ended, rests or waits for a person. */
  resume(id: string, request?: ResumeRequest): Promise<SessionView>
  /** Shows it under another name from now on. */
  rename(id: string, request: RenameRequest): Promise<SessionView>
  /** What is found of it, and what resuming it would do. Changes nothing. */
  outlook(id: string): Promise<OutlookView>
  /** Goes on here with a session of which only its checkpoints are left. */
  adopt(request: AdoptRequest): Promise<{ outlook: OutlookView; session: SessionView | null }>
  /** Has it stand still until it is resumed. Returns as soon as the wish is recorded. */
  hold(id: string): Promise<SessionView>
  /** Saves its working tree now; the newest checkpoint, and whether it is new. */
  checkpoint(id: string): Promise<{ checkpoint: CheckpointView; isNew: boolean }>
  /** Brings one back; where to, and what was saved of what was there before. */
  restore(id: string, request: RestoreRequest): Promise<RestoredView>
  restoreKept(request: RestoreKeptRequest): Promise<RestoredView>
  /** Names pieces of its work, or says how they stand; answers all of them as they are now. */
  tasks(id: string, request: TasksRequest): Promise<readonly TaskView[]>
  clean(request: CleanRequest): Promise<{ removed: readonly string[] }>
  /** Sends a test on one channel or on all. */
  testNotify(request: NotifyTestRequest): Promise<readonly TrialView[]>
}

/** A living daemon answers within milliseconds; one that takes this long is stuck or suspended. */
const PATIENCE: Duration = 5_000
/** Asking who is there touches nothing but memory. */
const SHORT_PATIENCE: Duration = 2_000
/** Starting a session waits for tmux, removing many for the disk. */
const LONG_PATIENCE: Duration = 60_000

/** A large repository whose files are not in memory. */
const GIT_PATIENCE: Duration = 300_000

export function connect(socket: string): Client {
  const get = <T>(path: string, patience = SHORT_PATIENCE) => call<T>(socket, { method: 'GET', path, patience })
  const post = <T>(path: string, body: unknown, patience: Duration) =>
    call<T>(socket, { method: 'POST', path, body: Buffer.from(JSON.stringify(body)), patience })
  return {
    findDaemon: async () => {
      try {
        return await get<DaemonView>('/v1/daemon')
      } catch (cause) {
        if (cause instanceof NobodyListens) return undefined
        throw cause
      }
    },
    stopDaemon: async () => void (await post('/v1/daemon/stop', {}, PATIENCE)),
    run: request => post('/v1/sessions', request, LONG_PATIENCE),
    stop: (id, request = {}) => post(`/v1/sessions/${encodeURIComponent(id)}/stop`, request, LONG_PATIENCE),
    send: (id, request) => post(`/v1/sessions/${encodeURIComponent(id)}/messages`, request, LONG_PATIENCE),
    resume: (id, request = {}) => post(`/v1/sessions/${encodeURIComponent(id)}/resume`, request, LONG_PATIENCE),
    rename: (id, request) => post(`/v1/sessions/${encodeURIComponent(id)}/rename`, request, PATIENCE),
    outlook: id => get(`/v1/sessions/${encodeURIComponent(id)}/outlook`, GIT_PATIENCE),
    adopt: request => post('/v1/sessions/adopt', request, GIT_PATIENCE),
    hold: id => post(`/v1/sessions/${encodeURIComponent(id)}/hold`, {}, LONG_PATIENCE),
    checkpoint: id => post(`/v1/sessions/${encodeURIComponent(id)}/checkpoint`, {}, GIT_PATIENCE),
    restore: (id, request) => post(`/v1/sessions/${encodeURIComponent(id)}/restore`, request, GIT_PATIENCE),
    restoreKept: request => post('/v1/restore', request, GIT_PATIENCE),
    tasks: (id, request) => post(`/v1/sessions/${encodeURIComponent(id)}/tasks`, request, PATIENCE),
    clean: request => post('/v1/sessions/clean', request, LONG_PATIENCE),
    testNotify: request => post('/v1/notify/test', request, LONG_PATIENCE),
  }
}

interface Call {
  readonly method: string
  readonly path: string
  readonly body?: Buffer
  readonly patience: Duration
}

class NobodyListens extends Refusal {
  constructor() {
    super('daemon-unreachable', 'the supervisor is not running', 'oneshot daemon start')
  }
}

async function call<T>(socket: string, { method, path, body, patience }: Call): Promise<T> {
  // Within a session, the supervisor holds it to what that session may do.
  const { ONESHOT_ATTEMPT: attempt } = process.env
  const caller = attempt === undefined || !/^[\w.-]+$/.test(attempt) ? {} : { 'oneshot-attempt': attempt }
  const about = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }
  const headers = { ...about, ...caller }
  // Without an agent: on Node 20 the agent's first call compiles a regular expression for IPv6, which takes 7 ms.
  const createConnection = (): Socket => process.getBuiltinModule('node:net').connect(socket)
  const { status, text } = await exchange({ createConnection, method, path, headers }, body, patience)
  const answer = parseJson(text)
  if (status < 400) return answer as T
  throw (
    refusalFrom(answer) ?? refusal('world-failed', `the supervisor answered ${method} ${path} with status ${status}`)
  )
}

function exchange(
  options: RequestOptions,
  body: Buffer | undefined,
  patience: Duration,
): Promise<{ status: number; text: string }> {
  // Importing node:http costs 24 ms on Node 22 and later, because its namespace wakes up undici; this does not.
  const http = process.getBuiltinModule('node:http')
  return new Promise((resolve, reject) => {
    const request: ClientRequest = http.request(options, (response: IncomingMessage) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => {
        clearTimeout(limit)
        resolve({ status: response.statusCode ?? 500, text: Buffer.concat(chunks).toString() })
      })
    })
    const limit = setTimeout(() => request.destroy(new TooSlow(patience)), patience)
    const fail = (cause: Error): void => {
      clearTimeout(limit)
      reject(unreachable(cause))
    }
    request.on('error', fail)
    request.end(body)
  })
}

class TooSlow extends Error {
  constructor(patience: Duration) {
    super(`it did not answer within ${patience / 1000} s`)
  }
}

function unreachable(cause: Error): Refusal {
  if (hasCode(cause, 'ENOENT', 'ECONNREFUSED', 'ENOTSOCK')) return new NobodyListens()
  if (cause instanceof TooSlow)
    return refusal('daemon-unreachable', `the supervisor is stuck: ${cause.message}`, 'oneshot doctor')
  const why = hasCode(cause, 'ECONNRESET', 'EPIPE') ? 'it went away in the middle of the call' : wordsOf(cause)
  return refusal('daemon-unreachable', `the supervisor cannot be reached: ${why}`, 'see oneshot list, then try again')
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    throw refusal('daemon-unreachable', 'the supervisor’s answer is not JSON', 'oneshot daemon restart')
  }
}

function refusalFrom(answer: unknown): Refusal | undefined {
  const { error } = (answer ?? {}) as { error?: { code?: unknown; message?: unknown; hint?: unknown } }
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined
  return new Refusal(error.code, error.message, typeof error.hint === 'string' ? error.hint : undefined)
}
