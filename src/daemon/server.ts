import fs from 'node:fs'
import http from 'node:http'
import { type Problem, toProblem } from '../api/contract/problems.ts'
import { isSessionId } from '../core/session/session-id-and-name.ts'
import { Refusal } from '../lib/errors.ts'
import { hasCode, isDiskFull, errorMessage } from '../lib/errors.ts'
import { anything, parseJson } from '../lib/codec.ts'
import { Superseded } from '../ports/store.ts'
import { unusableHome } from '../state/home.ts'
import { callerFromHeader, identifyCaller, recordConnection } from './caller.ts'
import { actingSession, assertAllowed, isPublic } from './caller-authorization.ts'
import type { RouteContext } from './routes/route.ts'
import { ROUTES } from './routes/routes.ts'

/** Bytes. A prompt of 5 MB is fine; an endless stream is not. */
const MAX_BODY_SIZE = 128 * 1_048_576

const HEADERS_TIMEOUT = 10_000
const REQUEST_TIMEOUT = 60_000
/** Each loop and each client that follows sessions has one connection. */
const MAX_CONNECTIONS = 1_000

/** Serves the contract on a unix socket that only its user may open. */
export async function startServer(context: RouteContext): Promise<http.Server> {
  const server = http.createServer((request, response) => {
    void handleRequest(context, request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    })
  })
  server.keepAliveTimeout = 1_000
  // A client that connects and sends nothing, or only a part, must not keep a descriptor that sessions need.
  server.headersTimeout = HEADERS_TIMEOUT
  server.requestTimeout = REQUEST_TIMEOUT
  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', recordConnection)
  fs.rmSync(context.home.daemonSocket, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(context.home.daemonSocket, resolve)
  })
  fs.chmodSync(context.home.daemonSocket, 0o600)
  return server
}

async function handleRequest(
  context: RouteContext,
  request: http.IncomingMessage,
): Promise<{ status: number; body: unknown }> {
  const { store, log } = context
  try {
    const [name, pathId] = matchRoute(request.method ?? 'GET', request.url ?? '/')
    const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined
    if (route === undefined)
      return { status: 404, body: { error: { code: 'usage', message: `no such route: ${name}` } } }
    const isPublicRoute = isPublic(route, request.method)
    const caller = isPublicRoute ? callerFromHeader(request, store) : await identifyCaller(request, store)
    assertAllowed(name, route, isSessionId(pathId) ? pathId : null, caller, store)
    const body = request.method === 'POST' ? await readBody(request) : undefined
    return { status: 200, body: await route.handle(context, { body, pathId, caller: actingSession(route, caller) }) }
  } catch (cause) {
    const problem = describeProblem(cause, context)
    const isDisconnected = request.socket.destroyed || hasCode(cause, 'ECONNRESET')
    if (problem.code === 'bug' && !isDisconnected)
      log(`${request.method} ${request.url}: ${cause instanceof Error ? cause.stack : errorMessage(cause)}`)
    return { status: problem.code === 'bug' ? 500 : 400, body: { error: problem } }
  }
}

function matchRoute(method: string, url: string): [route: string, pathId: string] {
  const path = url.split('?')[0] ?? '/'
  if (Object.hasOwn(ROUTES, `${method} ${path}`)) return [`${method} ${path}`, '']
  const [, v, sessions, id = '', ...rest] = path.split('/')
  return [`${method} /${[v, sessions, ':id', ...rest].join('/')}`, decodePathPart(id)]
}

function decodePathPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Refusal('usage', `the address holds a % that begins no character: ${part}`)
  }
}

async function readBody(request: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_SIZE) throw new Refusal('usage', `the request is larger than ${MAX_BODY_SIZE / 1_048_576} MB`)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString()
  try {
    return text === '' ? {} : parseJson(text, anything)
  } catch {
    throw new Refusal('usage', 'the request is not JSON')
  }
}

function describeProblem(cause: unknown, context: RouteContext): Problem {
  if (cause instanceof Refusal) return toProblem(cause)
  if (cause instanceof Superseded)
    return { code: 'daemon-refused', message: 'another supervisor has just taken over', hint: 'try again' }
  const isUnwritable = /EROFS|EACCES|EPERM|readonly database/.test(errorMessage(cause))
  if (isUnwritable || isDiskFull(cause)) return toProblem(unusableHome(context.home.root, cause))
  return { code: 'bug', message: `the supervisor failed: ${errorMessage(cause)}`, hint: 'oneshot daemon log' }
}
