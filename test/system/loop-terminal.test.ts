import fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { run } from '../../src/os/run.ts'
import { binFolder } from './bin-folder.ts'
import { TestHome, waitUntil } from './test-home.ts'
import { stubAgents } from './stub-agents.ts'
import { installScriptedAgent } from './scripted-agent.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
})
afterEach(() => testHome.close())

/** A repository with these tasks, two of which are worked on at a time. */
async function loopOn(...titles: string[]): Promise<SessionView> {
  fs.writeFileSync(testHome.path('PRD.md'), titles.map(title => `- [ ] ${title}\n`).join(''))
  const identity = ['-c', 'user.name=n', '-c', 'user.email=e@x']
  for (const args of [
    ['init', '-q', '.'],
    ['add', '.'],
    [...identity, 'commit', '-qm', 'first'],
  ])
    await run('git', args, { cwd: testHome.project, env: testHome.env })
  return testHome.json<SessionView>('ralph', '--agent', 'codex', '--parallel', '2')
}

const windows = async (): Promise<string[]> => {
  const list = ['-S', testHome.home.tmuxSocket, 'list-windows', '-t', '=ralph-prd', '-F', '#{window_name}']
  // Without the number of the iteration.
  const names = (await run('tmux', list)).stdout.trim().split('\n')
  return names.map(name => name.replace(/-\d+$/, '')).toSorted()
}
const untilWindows = (...names: string[]): Promise<unknown> =>
  waitUntil(`the windows are ${names.join(', ')}`, async () =>
    (await windows()).join() === names.join() ? true : undefined,
  )

describe('a loop at a terminal:', () => {
  it('attach shows one window for the loop and one for each worker', async () => {
    const { gate } = installScriptedAgent(testHome)
    await loopOn('make it [slow a.txt]', 'make it [good b.txt]', 'make it [slow c.txt]')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot attach prd; echo "code=$?"')
    await untilWindows('log', 'prd-1', 'prd-3', 'work')
    await terminal.shows(/\d:prd-1-\d.*\d:prd-3-\d/)
    await terminal.press('C-b', 'n')
    fs.writeFileSync(gate, '')
    await terminal.shows('code=0')
    expect(await testHome.ended('ralph-prd')).toMatchObject({ outcome: 'done' })
  })

  it('detaching closes the windows of the workers, and the loop continues', { tags: ['extended'] }, async () => {
    const { gate } = installScriptedAgent(testHome)
    const { pid } = await loopOn('make it [slow a.txt]', 'make it [slow b.txt]')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot attach prd; echo "code=$?"')
    await untilWindows('log', 'prd-1', 'prd-2', 'work')
    await terminal.press('C-b', 'd')
    await terminal.shows('detached; ralph-prd continues')
    expect(await windows()).toEqual(['work'])
    expect(await testHome.status('ralph-prd')).toMatchObject({ phase: 'running', pid })
    fs.writeFileSync(gate, '')
    expect(await testHome.ended('ralph-prd')).toMatchObject({ outcome: 'done' })
  })

  it('ralph status --watch redraws the board in place until the loop ends, and leaves the last board on the screen', {
    tags: ['extended'],
  }, async () => {
    const { gate } = installScriptedAgent(testHome)
    await loopOn('make it [slow a.txt]', 'make it [good b.txt]')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot ralph status --watch; echo "code=$?"')
    await terminal.shows('1 of 2 done · 1 working')
    await terminal.press('C-c')
    await terminal.shows('code=130')
    await terminal.clear()
    await terminal.enter('oneshot ralph status --watch; echo "code=$?"')
    await terminal.shows('1 of 2 done · 1 working')
    fs.writeFileSync(gate, '')
    const screen = await terminal.shows('code=0')
    expect(screen).toContain('◇ done ralph-prd: 2 of 2 tasks done (changed files; not tested)')
    expect(screen).toContain('next  oneshot ralph land ralph-prd')
    expect(screen.match(/2 of 2 done/g)).toHaveLength(1)
  })
})

describe('oneshot build', () => {
  const PLANNER = `prompt=$(cat)
case $prompt in
'Plan: '*) echo planning hard; printf -- '- [ ] one\\n- [ ] two (after 1)\\n' > PRD.md ;;
*) echo done >> "$(printf '%s' "$prompt" | head -1 | tr -dc a-z0-9).txt" ;;
esac`
  beforeEach(() => {
    const { codex = '' } = stubAgents(PLANNER)
    testHome.env['PATH'] = `${binFolder(testHome, { scripts: { codex } })}:${testHome.env['PATH']}`
  })

  it('at a terminal shows the plan, lets the user edit it, and builds after a yes', async () => {
    testHome.env['VISUAL'] = 'sed -i s/two/three/'
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot build --agent codex "a tool"; echo "code=$?"')
    const plan = await terminal.shows('Start? [Y/n')
    expect(plan).toMatch(/PRD\.md: 2 tasks\n {2}- \[ \] one\n {2}- \[ \] two \(after 1\)/)
    expect(await testHome.status('build-a-tool')).toMatchObject({ phase: 'blocked', trouble: 'review' })
    await terminal.enter('e')
    await terminal.shows('the loop reads PRD.md again when it starts')
    await terminal.press('Enter')
    await terminal.shows('code=0')
    expect(await testHome.ended('build-a-tool')).toMatchObject({ outcome: 'done' })
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe('- [x] one\n- [x] three (after 1)\n')
  })

  it('at a terminal waits after a no until the user resumes it', { tags: ['extended'] }, async () => {
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot build --agent codex "a tool"; echo "code=$?"')
    await terminal.shows('Start? [Y/n')
    await terminal.enter('n')
    expect(await terminal.shows('code=0')).toContain('then oneshot resume build-a-tool')
    expect(await testHome.ok('ralph', 'status')).toContain('next  oneshot resume build-a-tool')
    await testHome.ok('resume', 'build-a-tool')
    expect(await testHome.ended('build-a-tool')).toMatchObject({ outcome: 'done' })
  })

  it('without a terminal ends with the plan if --plan-only is given', {
    tags: ['extended'],
  }, async () => {
    await testHome.ok('build', '--agent', 'codex', '--plan-only', 'a tool')
    expect(await testHome.ended('build-a-tool')).toMatchObject({ outcome: 'done' })
    const board = await testHome.ok('ralph', 'status')
    expect(board).toContain('0 of 2 done · 2 open')
    expect(board).toContain('next  oneshot ralph PRD.md')
    await testHome.ok('build', '--agent', 'codex', '--prd', 'OTHER.md', '--plan-only', 'another')
    await testHome.ended('build-another')
  })
})
