import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSessionId, uncheckedSessionId } from '../../testkit/core/ids.ts'
import { connect } from './client.ts'
import type { RunRequest } from './contract/run-request.ts'

let folder: string
let socket: string
let server: http.Server | undefined

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oneshot-client-'))
  socket = path.join(folder, 's')
})

afterEach(async () => {
  await new Promise(resolve => (server === undefined ? resolve(undefined) : server.close(resolve)))
  server = undefined
  fs.rmSync(folder, { recursive: true })
})

/** Starts a daemon that gives the same answer to every request, and returns the list of its requests. */
async function startServer(status: number, body: string): Promise<string[]> {
  const requests: string[] = []
  server = http.createServer((request, response) => {
    let text = ''
    request.on('data', chunk => {
      text += chunk
    })
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${text}`)
      response.writeHead(status).end(body)
    })
  })
  await new Promise<void>(resolve => server?.listen(socket, resolve))
  return requests
}

test('findDaemon returns undefined without a daemon, and a call refuses with a hint', async () => {
  expect(await connect(socket).findDaemon()).toBeUndefined()
  fs.writeFileSync(socket, '')
  expect(await connect(socket).findDaemon()).toBeUndefined()
  await expect(connect(socket).stop(testSessionId('a1'))).rejects.toMatchObject({
    code: 'daemon-unreachable',
    hint: 'oneshot daemon start',
  })
})

test('the daemon receives complete requests of any size', async () => {
  const requests = await startServer(200, '{"name":"demo-x"}')
  const request: RunRequest = {
    agent: 'demo',
    argv: [],
    prompt: 'A'.repeat(7_000_000),
    cwd: '/',
    env: {},
    supervision: { maxTime: null },
  }
  const { supervision, ...plain } = request
  expect(await connect(socket).run(request)).toEqual({ name: 'demo-x' })
  await connect(socket).stop(uncheckedSessionId('a/b'))
  expect(requests).toEqual([
    `POST /v1/sessions ${JSON.stringify({ ...plain, ...supervision })}`,
    'POST /v1/sessions/a%2Fb/stop {}',
  ])
})

test('the client throws a refusal with the code, message and hint of the daemon', async () => {
  await startServer(400, '{"error":{"code":"name-taken","message":"demo-x runs","hint":"choose another"}}')
  await expect(connect(socket).stop(testSessionId('x'))).rejects.toMatchObject({
    name: 'Refusal',
    code: 'name-taken',
    message: 'demo-x runs',
    hint: 'choose another',
  })
})

test.each([
  [500, '{}', 'world-failed'],
  [200, '<html>', 'daemon-unreachable'],
])('the client refuses status %i with body %j', async (status, body, code) => {
  await startServer(status, body)
  await expect(connect(socket).findDaemon()).rejects.toMatchObject({ code })
})

test('a refusal says that the daemon died in the middle of a call', async () => {
  server = http.createServer(request => request.socket.destroy())
  await new Promise<void>(resolve => server?.listen(socket, resolve))
  await expect(connect(socket).stop(testSessionId('x'))).rejects.toMatchObject({
    code: 'daemon-unreachable',
    message: expect.stringContaining('went away in the middle'),
  })
})
