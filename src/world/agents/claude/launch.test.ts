import { expect, test } from 'vitest'
import { makeLaunchRequest } from '../../../../testkit/agents/fixtures.ts'
import { testThreadId } from '../../../../testkit/core/ids.ts'
import { planLaunch } from './claude.ts'

const order = makeLaunchRequest({ argv: ['/bin/claude'] })

test('a thread begins under the id that oneshot chose, and resumes by it', () => {
  const common = ['/bin/claude', '-p', '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions']
  expect(planLaunch(order)).toEqual({ argv: [...common, '--session-id', order.tag], env: {}, stdin: 'text' })
  expect(planLaunch({ ...order, resume: testThreadId('t-1') }).argv).toEqual([...common, '--resume', 't-1'])
})

test("planLaunch passes the session's options, and the caller's own arguments come last, unchanged", () => {
  const launchRequest = {
    ...order,
    argv: ['/bin/claude', '--add-dir', '../other', '--model=opus'],
    autonomy: 'edits' as const,
    model: 'sonnet',
    effort: 'high',
    budget: { usd: 1.5, turns: 20 },
  }
  expect(planLaunch(launchRequest).argv.slice(5)).toEqual(
    [
      `--permission-mode acceptEdits --session-id ${order.tag}`,
      '--model sonnet --effort high --max-budget-usd 1.5 --max-turns 20',
      '--add-dir ../other --model=opus',
    ].flatMap(words => words.split(' ')),
  )
})

test('the mode `ask` uses the name that both versions know', () => {
  expect(planLaunch({ ...order, autonomy: 'ask' }).argv.slice(5, 7)).toEqual(['--permission-mode', 'default'])
})

test('a used-up budget does not become an unlimited one', () => {
  const { argv } = planLaunch({ ...order, budget: { usd: 0, turns: 0 } })
  expect(argv.slice(-4)).toEqual(['--max-budget-usd', '0.01', '--max-turns', '1'])
})
