import { expect, test } from 'vitest'
import { toWire } from '../client.ts'
import { parseRunRequest, type RunRequest } from './run-request.ts'

const REQUEST: RunRequest = {
  agent: 'demo',
  argv: [],
  prompt: 'eA==',
  cwd: '/project',
  env: {},
  supervision: { maxTime: null, memory: 7_000, restart: { limit: 3 }, projectFiles: false },
}

test('the daemon reads the same request that the client sends', () => {
  expect(parseRunRequest(JSON.parse(JSON.stringify(toWire(REQUEST))))).toEqual(REQUEST)
})

test('on the wire the supervision fields stand beside the others, as version 0.1.0 sends them', () => {
  const { supervision, ...rest } = REQUEST
  expect(toWire(REQUEST)).toEqual({ ...rest, ...supervision })
})

test.each([
  [{ maxTime: undefined }, 'maxTime'],
  [{ restart: { limit: -1 } }, 'restart.limit'],
  [{ memory: 0 }, 'memory'],
  [{ unknown: 1 }, 'unknown'],
])('a request with %j is refused, and the refusal names the field', (change, field) => {
  expect(() => parseRunRequest({ ...toWire(REQUEST), ...change })).toThrow(field)
})
