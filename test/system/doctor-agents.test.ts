import { afterEach, beforeEach, expect, it } from 'vitest'
import { AGENT_PROGRAMS, installCommand } from '../../src/api/contract/known-agents.ts'
import { binFolder } from './bin-folder.ts'
import { TestHome } from './test-home.ts'

interface Finding {
  readonly check: string
  readonly status: string
  readonly message: string
  readonly hint?: string
}

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

/** Returns the findings of doctor on a PATH with these programs only. */
async function findings(scripts: Record<string, string>, env: NodeJS.ProcessEnv = {}): Promise<Map<string, Finding>> {
  const bin = binFolder(testHome, { tools: ['tmux'], scripts })
  const { stdout } = await testHome.call(['doctor', '--json'], { env: { PATH: bin, IS_SANDBOX: undefined, ...env } })
  const { checks } = JSON.parse(stdout) as { checks: Finding[] }
  return new Map(checks.map(finding => [finding.check, finding]))
}

it('doctor shows the version of each agent and how to log in', async () => {
  const found = await findings({ codex: 'echo codex-cli 0.166.0', pi: 'echo 0.73.1 >&2', opencode: 'exit 1' })
  expect(found.get('agent codex')).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/^0\.166\.0 at \/.*codex; to log in: codex login$/),
  })
  expect(found.get('agent pi')).toMatchObject({ status: 'ok', message: expect.stringMatching(/^0\.73\.1 at /) })
  expect(found.get('agent opencode')).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/^version unknown at /),
  })
})

it('doctor reports agents that are too old, or newer than the tested ones', async () => {
  const found = await findings({ codex: 'echo codex-cli 0.99.0', opencode: 'echo 99.0.0' })
  expect(found.get('agent codex')).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('is too old: 0.166.0 is the oldest that was tried'),
    hint: 'npm install -g @openai/codex',
  })
  expect(found.get('agent opencode')).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('newer than 1.18.33'),
  })
})

it('doctor tells how to install a missing agent, and fails only if the chosen agent is missing', async () => {
  const found = await findings({})
  for (const agent of AGENT_PROGRAMS) {
    const hint = installCommand(agent, process.versions.node)
    expect(found.get(`agent ${agent.kind}`)).toMatchObject({ status: 'note', message: 'not installed', hint })
  }
  expect(found.get('agents')).toMatchObject({ status: 'warning' })
  const chosen = await findings({}, { ONESHOT_AGENT: 'gemini' })
  expect(chosen.get('agent gemini')).toMatchObject({ status: 'failure', hint: 'npm install -g @google/gemini-cli' })
})

it('doctor warns root that claude refuses full autonomy', async ({ skip }) => {
  skip(process.getuid?.() !== 0, 'only root is refused')
  const scripts = { claude: 'echo "2.1.325 (Claude Code)"' }
  const check = 'agent claude as root'
  expect((await findings(scripts)).get(check)).toMatchObject({
    status: 'warning',
    hint: expect.stringContaining('IS_SANDBOX=1'),
  })
  expect((await findings(scripts, { IS_SANDBOX: '1' })).has(check)).toBe(false)
  expect((await findings(scripts, { ONESHOT_AUTONOMY: 'edits' })).has(check)).toBe(false)
})

it('doctor names agent events that oneshot does not know', async () => {
  const codex = `case "$1" in --version) echo codex-cli 0.200.0; exit ;; esac
cat >/dev/null
echo '{"type":"thread.started","thread_id":"01a1de78-69fb-7731-abc7-29a1f6ce73b3"}'
echo '{"type":"quantum.leap"}'`
  testHome.env['PATH'] = binFolder(testHome, { tools: ['tmux'], scripts: { codex } })
  for (const name of ['one', 'two'])
    await testHome.run('--agent', 'codex', '--name', name, '--restart', 'never', 'fix it')
  for (const name of ['one', 'two']) await testHome.ended(name)
  const { message } = (await findings({ codex })).get('agent codex output') as Finding
  expect(message).toMatch(/^codex 0\.200\.0 said things this oneshot does not know: .*quantum\.leap \(in 2 sessions\)/)
  expect(message).toContain('log --raw')
})
