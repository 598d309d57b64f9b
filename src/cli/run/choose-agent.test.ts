import { expect, test } from 'vitest'
import { chooseAgent } from './choose-agent.ts'

const has =
  (...programs: string[]) =>
  (program: string) =>
    programs.includes(program)

test('a requested agent precedes the configured one, which precedes the first one on PATH', () => {
  expect(chooseAgent('demo', 'codex', has('claude'))).toBe('demo')
  expect(chooseAgent(undefined, 'codex', has('claude'))).toBe('codex')
  expect(chooseAgent(undefined, null, has('gemini', 'opencode'))).toBe('opencode')
})

test.each([
  ['cladue', 'agent-unknown', 'did you mean --agent claude?'],
  ['xyzzy', 'agent-unknown', expect.stringContaining('the agents are claude')],
  ['command', 'usage', expect.stringContaining('oneshot run -- pytest')],
  [undefined, 'agent-missing', expect.stringMatching(/--agent demo[\s\S]*npm install -g @openai\/codex/)],
])('chooseAgent refuses %s as %s', (requested, code, hint) => {
  let cause: unknown
  try {
    chooseAgent(requested, null, has())
  } catch (thrown) {
    cause = thrown
  }
  expect(cause).toMatchObject({ code, hint })
})
