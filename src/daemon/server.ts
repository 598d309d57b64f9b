import fs from 'node:fs'
import http from 'node:http'
import { type Problem, problemOf } from '../api/contract/problems.ts'
import { Refusal } from '../lib/refusal.ts'
import { hasCode, isDiskFull, wordsOf } from '../lib/trouble.ts'
import { Superseded } from '../ports/store.ts'
import { unusable } from '../world/os/home.ts'
import { callerByHeader, callerOf, noteConnection } from './caller.ts'
import { actorOf, assertMay, isForAll } from './rights.ts'
import { type Host, ROUTES } from './routes.ts'

/** A prompt of 5 MB is welcome; a stream without end is not. */
const LARGEST_BODY = 128 * 1_048_576

const HEADERS_PATIENCE = 10_000
const REQUEST_PATIENCE = 60_000
/** A loop and those who follow sessions have one each. */
const MOST_CONNECTIONS = 1_000

/** Serves the contract on a unix socket that only its user may open. */
export async function serve(host: Host): Promise<http.Server> {
  const server = http.createServer((request, response) => {
    void answer(host, request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    })
  })
  server.keepAliveTimeout = 1_000
  // Whoever connects and says nothing, or not all, does not keep a descriptor that sessions need.
  server.headersTimeout = HEADERS_PATIENCE
  server.requestTimeout = REQUEST_PATIENCE
  server.maxConnections = MOST_CONNECTIONS
  server.on('connection', noteConnection)
  fs.rmSync(host.home.daemonSocket, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(host.home.daemonSocket, resolve)
  })
  fs.chmodSync(host.home.daemonSocket, 0o600)
  return server
}

async function answer(host: Host, request: http.IncomingMessage): Promise<{ status: number; body: unknown }> {
  const { store, say } = host
  try {
    const [name, id] = match(request.method ?? 'GET', request.url ?? '/')
    const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined
    if (route === undefined)
      return { status: 404, body: { error: { code: 'usage', message: `no such route: ${name}` } } }
    const isHarmless = isForAll(route, request.method)
    const caller = isHarmless ? callerByHeader(request, store) : await callerOf(request, store)
    assertMay(name, route, id, caller, store)
    const body = request.method === 'POST' ? await bodyOf(request) : undefined
    return { status: 200, body: await route.answer(host, body, id, actorOf(route, caller)) }
  } catch (cause) {
    const problem = problemFor(cause, host)
    const hasLeft = request.socket.destroyed || hasCode(cause, 'ECONNRESET')
    if (problem.code === 'bug' && !hasLeft)
      say(`${request.method} ${request.url}: ${cause instanceof Error ? cause.stack : wordsOf(cause)}`)
    return { status: problem.code === 'bug' ? 500 : 400, body: { error: problem } }
  }
}

function match(method: string, url: string): [route: string, id: string] {
  const path = url.split('?')[0] ?? '/'
  if (Object.hasOwn(ROUTES, `${method} ${path}`)) return [`${method} ${path}`, '']
  const [, v, sessions, id = '', ...rest] = path.split('/')
  return [`${method} /${[v, sessions, ':id', ...rest].join('/')}`, decoded(id)]
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Refusal('usage', `the address holds a % that begins no character: ${part}`)
  }
}

async function bodyOf(request: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST_BODY) throw new Refusal('usage', `the request is larger than ${LARGEST_BODY / 1_048_576} MB`)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString()
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch (cause) {
    throw new Refusal('usage', `the request is not JSON: ${wordsOf(cause)}`)
  }
}

function problemFor(cause: unknown, host: Host): Problem {
  if (cause instanceof Refusal) return problemOf(cause)
  if (cause instanceof Superseded)
    return { code: 'daemon-refused', message: 'another supervisor has just taken over', hint: 'try again' }
  const isOfDisk = /EROFS|EACCES|EPERM|readonly database/.test(wordsOf(cause))
  if (isOfDisk || isDiskFull(cause)) return problemOf(unusable(host.home.root, cause))
  return { code: 'bug', message: `the supervisor failed: ${wordsOf(cause)}`, hint: 'oneshot daemon log' }
}
