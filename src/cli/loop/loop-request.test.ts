import { expect, test } from 'vitest'
import { loadConfig } from '../../api/config/load-config.ts'
import type { LoopRequest } from '../../api/contract/loop-view.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import { parseLine } from '../../../testkit/cli/commands.ts'
import { buildRunRequest } from '../run/run-request.ts'
import type { CommandContext } from '../context.ts'
import { buildLoopRequest } from './loop-request.ts'

async function buildFromArgs(...argv: string[]): Promise<{ request: RunRequest; spec: LoopRequest }> {
  const words = ['ralph', '--agent', 'demo', ...argv]
  const args = parseLine(words)
  const context = { argv: words, env: {}, host: {} } as unknown as CommandContext
  const config = await loadConfig({ env: { XDG_CONFIG_HOME: '/nowhere' }, cwd: '/', overrides: [] })
  const worker = buildRunRequest(args, context, { config, cwd: '/p', prompt: Buffer.from('work through PRD.md') })
  const plan = { kind: 'ralph', list: 'PRD.md', check: null, planning: 'none', name: 'prd' } as const
  const request = buildLoopRequest(worker, args, config, plan)
  return { request, spec: JSON.parse(request.argv[0] ?? '') as LoopRequest }
}

test('time and money limit the loop as a whole, turns and supervision limit each iteration', async () => {
  const words = [
    '--max-time',
    '2h',
    '--budget-usd',
    '20',
    '--budget-tokens',
    '1M',
    '--max-turns',
    '50',
    '--silence',
    '5m',
    '--max-output',
    '10M',
  ]
  const { request, spec } = await buildFromArgs(...words)
  expect(request).toMatchObject({
    agent: 'ralph',
    name: 'prd',
    supervision: { maxTime: 7_200_000, limits: { usd: 20, tokens: 1_000_000 } },
  })
  expect(request.supervision.patience).not.toHaveProperty('silence')
  expect(spec.worker).toMatchObject({
    agent: 'demo',
    supervision: {
      maxTime: 5 * 3_600_000,
      limits: { usd: null, tokens: null, turns: 50 },
      patience: { silence: 300_000 },
      maxOutput: 10 * 1024 ** 2,
    },
  })
})

test('by default nothing limits a loop, three failures block a task, and the loop detects a check later', async () => {
  const { request, spec } = await buildFromArgs('--', '--fast')
  expect(request).toMatchObject({ supervision: { maxTime: null, limits: {} }, mode: 'headless' })
  expect(spec).toMatchObject({
    retries: 3,
    maxIterations: null,
    parallel: null,
    only: null,
    land: false,
    detectCheckEachTime: true,
  })
  expect(spec.worker.argv).toEqual(['--fast'])
})

test("the user may remove the output limit of a loop's agent", async () => {
  expect((await buildFromArgs('--max-output', 'none')).spec.worker.supervision).toHaveProperty('maxOutput', null)
})

test('the request contains the options of the line', async () => {
  const { spec } = await buildFromArgs(
    '--parallel',
    '--land',
    '--setup',
    'npm ci',
    '--task',
    '3',
    '--once',
    '--no-verify',
    '--retries',
    '5',
  )
  expect(spec).toMatchObject({ parallel: 3, land: true, setup: 'npm ci', only: '3', maxIterations: 1, retries: 5 })
  expect(spec).not.toHaveProperty('detectCheckEachTime')
})

test('a name on the line precedes that of the list', async () => {
  expect((await buildFromArgs('--name', 'night')).request.name).toBe('night')
})

test('an option reaches the iterations, the loop or both, as its definition says', async () => {
  const budget = ['--budget-usd', '7', '--budget-tokens', '7', '--max-turns', '7', '--on-exit', 'ls']
  const limits = [
    '--silence',
    '7m',
    '--limit-wait',
    '7m',
    '--memory',
    '7G',
    '--stop-grace',
    '7s',
    '--max-output',
    '7G',
    '--max-restarts',
    '7',
  ]
  const saving = ['--checkpoints', 'branch', '--push', 'origin', '--push-untracked']
  const { request, spec } = await buildFromArgs(...budget, ...limits, ...saving, '--verify', 'true')
  const saved = { mode: 'branch', interval: 300_000, push: 'origin', pushUntracked: true }
  expect(request.supervision).toEqual({
    maxTime: null,
    limits: { usd: 7, tokens: 7 },
    restart: { limit: 20, nextDelay: 500, maxDelay: 10_000 },
    patience: { absence: 259_200_000 },
    saving: saved,
    alertAfter: 3,
    onExit: ['ls'],
  })
  expect(spec.worker.supervision).toEqual({
    maxTime: 18_000_000,
    limits: { usd: null, tokens: null, turns: 7 },
    restart: { limit: 7, window: 600_000, nextDelay: 2_000, maxDelay: 64_000 },
    patience: { silence: 420_000, limit: 420_000, absence: 259_200_000 },
    stopGrace: 7_000,
    memory: 7 * 1024 ** 3,
    maxOutput: 7 * 1024 ** 3,
    saving: saved,
    alertAfter: 3,
    projectFiles: false,
  })
})
