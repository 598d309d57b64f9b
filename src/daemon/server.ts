import fs from 'node:fs'
import http from 'node:http'
import { type Problem, problemOf } from '../api/contract/problems.ts'
import { Refusal } from '../lib/refusal.ts'
import { wordsOf } from '../lib/trouble.ts'
import { Superseded } from '../ports/store.ts'
import { unusable } from '../world/os/home.ts'
import { type Host, ROUTES } from './routes.ts'

/** A prompt of 5 MB is welcome; a stream without end is not. */
const LARGEST_BODY = 128 * 1_048_576

/** Serves the contract on a unix socket that only its user may open. */
export async function serve(host: Host, say: (sentence: string) => void): Promise<http.Server> {
  const server = http.createServer((request, response) => {
    void answer(host, request, say).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    })
  })
  server.keepAliveTimeout = 1_000
  fs.rmSync(host.home.daemonSocket, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(host.home.daemonSocket, resolve)
  })
  fs.chmodSync(host.home.daemonSocket, 0o600)
  return server
}

async function answer(
  host: Host,
  request: http.IncomingMessage,
  say: (sentence: string) => void,
): Promise<{ status: number; body: unknown }> {
  try {
    const [route, id] = match(request.method ?? 'GET', request.url ?? '/')
    const body = request.method === 'POST' ? await bodyOf(request) : undefined
    const act = ROUTES[route]
    if (act === undefined)
      return { status: 404, body: { error: { code: 'usage', message: `no such route: ${route}` } } }
    return { status: 200, body: await act(host, body, id) }
  } catch (cause) {
    const problem = problemFor(cause, host)
    if (problem.code === 'bug')
      say(`${request.method} ${request.url}: ${cause instanceof Error ? cause.stack : wordsOf(cause)}`)
    return { status: problem.code === 'bug' ? 500 : 400, body: { error: problem } }
  }
}

function match(method: string, url: string): [route: string, id: string] {
  const path = url.split('?')[0] ?? '/'
  if (`${method} ${path}` in ROUTES) return [`${method} ${path}`, '']
  const [, v, sessions, id = '', ...rest] = path.split('/')
  return [`${method} /${[v, sessions, ':id', ...rest].join('/')}`, decodeURIComponent(id)]
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
  const isOfDisk = /ENOSPC|EDQUOT|EROFS|EACCES|EPERM|disk is full|readonly database/.test(wordsOf(cause))
  if (isOfDisk) return problemOf(unusable(host.home.root, cause))
  return { code: 'bug', message: `the supervisor failed: ${wordsOf(cause)}`, hint: 'oneshot daemon log' }
}
