import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import { Refusal } from '../lib/errors.ts'
import { anything, parseJson } from '../lib/codec.ts'
import type { Duration } from '../lib/time.ts'
import { hasCode, errorMessage } from '../lib/errors.ts'
import { refusal } from './contract/problems.ts'
import type {
  ImportRequest,
  CleanRequest,
  NotifyTestRequest,
  RestoreSavedSessionRequest,
  RestoreRequest,
  RenameRequest,
  ResumeRequest,
  SendRequest,
  StopRequest,
  TasksRequest,
} from './contract/requests.ts'
import type { LocalRunRequest, RunRequest } from './contract/run-request.ts'
import type {
  CheckpointView,
  DaemonView,
  MessageView,
  ResumePreview,
  RestoredView,
  SessionView,
  TaskView,
  ChannelTestView,
} from './contract/responses.ts'

/** The daemon's API over its unix socket. Every call has a time limit, and throws the daemon's refusals unchanged. */
export interface Client {
  /** Returns undefined when no daemon listens. Refuses when a daemon listens and does not answer. */
  findDaemon(): Promise<DaemonView | undefined>
  stopDaemon(): Promise<void>
  run(request: RunRequest): Promise<SessionView>
  /** Returns as soon as the daemon has recorded the request. */
  stop(id: SessionId, request?: StopRequest): Promise<SessionView>
  /** Returns when the message is on disk. A repeated call with the same key does not create a second message. */
  send(id: SessionId, request: SendRequest): Promise<{ session: SessionView; message: MessageView }>
  /** Resumes a session that has ended, rests or waits for a person. */
  resume(id: SessionId, request?: ResumeRequest): Promise<SessionView>
  /** Changes the name under which clients show the session. */
  rename(id: SessionId, request: RenameRequest): Promise<SessionView>
  /** Returns the findings about the session, and the effect that a resume would have. Changes nothing. */
  previewResume(id: SessionId): Promise<ResumePreview>
  /** Continues a session here of which only the checkpoints are left. */
  importSession(request: ImportRequest): Promise<{ outlook: ResumePreview; session: SessionView | null }>
  /** Pauses the session until a resume. Returns as soon as the daemon has recorded the request. */
  hold(id: SessionId): Promise<SessionView>
  /** Saves the working tree now. Returns the newest checkpoint, and says if it is new. */
  checkpoint(id: SessionId): Promise<{ checkpoint: CheckpointView; isNew: boolean }>
  /** Restores a checkpoint. Returns the destination, and the checkpoint of the state before. */
  restore(id: SessionId, request: RestoreRequest): Promise<RestoredView>
  restoreSavedSession(request: RestoreSavedSessionRequest): Promise<RestoredView>
  /** Adds tasks or changes their state; returns all tasks of the session. */
  tasks(id: SessionId, request: TasksRequest): Promise<readonly TaskView[]>
  clean(request: CleanRequest): Promise<{ removed: readonly string[] }>
  /** Sends a test notification on one channel or on all. */
  testChannels(request: NotifyTestRequest): Promise<readonly ChannelTestView[]>
}

/** Milliseconds. A live daemon answers within milliseconds; a daemon that takes this long is stuck or suspended. */
const TIMEOUT: Duration = 5_000
/** Milliseconds. The daemon answers these requests from memory. */
const SHORT_TIMEOUT: Duration = 2_000
/** Milliseconds. The start of a session waits for tmux, and the removal of many waits for the disk. */
const LONG_TIMEOUT: Duration = 60_000

/** Milliseconds. Git may have to read a large repository from disk. */
const GIT_TIMEOUT: Duration = 300_000

/** `attempt` names the session that the caller runs in, so that the supervisor applies that session's rights. */
export function connect(socket: string, attempt = process.env['ONESHOT_ATTEMPT']): Client {
  const get = <T>(path: string, timeout = SHORT_TIMEOUT) =>
    callApi<T>(socket, { method: 'GET', path, timeout, attempt })
  const post = <T>(path: string, body: unknown, timeout: Duration) =>
    callApi<T>(socket, { method: 'POST', path, body: Buffer.from(JSON.stringify(body)), timeout, attempt })
  return {
    findDaemon: async () => {
      try {
        return await get<DaemonView>('/v1/daemon')
      } catch (cause) {
        if (cause instanceof NotListening) return undefined
        throw cause
      }
    },
    stopDaemon: async () => void (await post('/v1/daemon/stop', {}, TIMEOUT)),
    run: request => post('/v1/sessions', toWire(request), LONG_TIMEOUT),
    stop: (id, request = {}) => post(`/v1/sessions/${encodeURIComponent(id)}/stop`, request, LONG_TIMEOUT),
    send: (id, request) => post(`/v1/sessions/${encodeURIComponent(id)}/messages`, request, LONG_TIMEOUT),
    resume: (id, request = {}) => post(`/v1/sessions/${encodeURIComponent(id)}/resume`, request, LONG_TIMEOUT),
    rename: (id, request) => post(`/v1/sessions/${encodeURIComponent(id)}/rename`, request, TIMEOUT),
    previewResume: id => get(`/v1/sessions/${encodeURIComponent(id)}/outlook`, GIT_TIMEOUT),
    importSession: request => post('/v1/sessions/adopt', { ...request, run: toWire(request.run) }, GIT_TIMEOUT),
    hold: id => post(`/v1/sessions/${encodeURIComponent(id)}/hold`, {}, LONG_TIMEOUT),
    checkpoint: id => post(`/v1/sessions/${encodeURIComponent(id)}/checkpoint`, {}, GIT_TIMEOUT),
    restore: (id, request) => post(`/v1/sessions/${encodeURIComponent(id)}/restore`, request, GIT_TIMEOUT),
    restoreSavedSession: request => post('/v1/restore', request, GIT_TIMEOUT),
    tasks: (id, request) => post(`/v1/sessions/${encodeURIComponent(id)}/tasks`, request, TIMEOUT),
    clean: request => post('/v1/sessions/clean', request, LONG_TIMEOUT),
    testChannels: request => post('/v1/notify/test', request, LONG_TIMEOUT),
  }
}

/** On the wire the supervision fields stand beside the others, as every version of the supervisor reads them. */
export function toWire({ supervision, ...request }: LocalRunRequest): object {
  return { ...request, ...supervision }
}

interface ApiCall {
  readonly method: string
  readonly path: string
  readonly body?: Buffer
  readonly timeout: Duration
  readonly attempt: string | undefined
}

class NotListening extends Refusal {
  constructor() {
    super('daemon-unreachable', 'the supervisor is not running', 'oneshot daemon start')
  }
}

async function callApi<T>(socket: string, { method, path, body, timeout, attempt }: ApiCall): Promise<T> {
  const callerHeader = attempt === undefined || !/^[\w.-]+$/.test(attempt) ? {} : { 'oneshot-attempt': attempt }
  const contentHeaders = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }
  const headers = { ...contentHeaders, ...callerHeader }
  // Uses no http agent: on Node 20 the first call of an agent compiles a regular expression for IPv6, which takes 7 ms.
  const createConnection = (): Socket => process.getBuiltinModule('node:net').connect(socket)
  const { status, text } = await sendRequest({ createConnection, method, path, headers }, body, timeout)
  const answer = parseAnswer(text)
  if (status < 400) return answer as T
  throw (
    parseRefusal(answer) ?? refusal('world-failed', `the supervisor answered ${method} ${path} with status ${status}`)
  )
}

function sendRequest(
  options: RequestOptions,
  body: Buffer | undefined,
  timeout: Duration,
): Promise<{ status: number; text: string }> {
  // An import of node:http costs 24 ms on Node 22 and later, because its namespace loads undici; getBuiltinModule does
  // not.
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
    const limit = setTimeout(() => request.destroy(new TimedOut(timeout)), timeout)
    const fail = (cause: Error): void => {
      clearTimeout(limit)
      reject(toUnreachable(cause))
    }
    request.on('error', fail)
    request.end(body)
  })
}

class TimedOut extends Error {
  constructor(patience: Duration) {
    super(`it did not answer within ${patience / 1000} s`)
  }
}

function toUnreachable(cause: Error): Refusal {
  if (hasCode(cause, 'ENOENT', 'ECONNREFUSED', 'ENOTSOCK')) return new NotListening()
  if (cause instanceof TimedOut)
    return refusal('daemon-unreachable', `the supervisor is stuck: ${cause.message}`, 'oneshot doctor')
  const why = hasCode(cause, 'ECONNRESET', 'EPIPE') ? 'it went away in the middle of the call' : errorMessage(cause)
  return refusal('daemon-unreachable', `the supervisor cannot be reached: ${why}`, 'see oneshot list, then try again')
}

function parseAnswer(text: string): unknown {
  try {
    return text === '' ? {} : parseJson(text, anything)
  } catch {
    throw refusal('daemon-unreachable', 'the supervisor’s answer is not JSON', 'oneshot daemon restart')
  }
}

function parseRefusal(answer: unknown): Refusal | undefined {
  const { error } = (answer ?? {}) as { error?: { code?: unknown; message?: unknown; hint?: unknown } }
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined
  return new Refusal(error.code, error.message, typeof error.hint === 'string' ? error.hint : undefined)
}
