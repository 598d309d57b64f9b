import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import type { Loop } from '../../src/core/loop/loop-state.ts'
import { readLoop } from '../../src/state/loop-file.ts'
import { HOSTILE_BEHAVIORS } from './hostile-agents.ts'
import { installScriptedAgent } from './scripted-agent.ts'
import { TestHome, waitUntil } from './test-home.ts'

let testHome: TestHome
let agent: ReturnType<typeof installScriptedAgent>
beforeEach(() => {
  testHome = new TestHome({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
  agent = installScriptedAgent(testHome, HOSTILE_BEHAVIORS)
  sh('git init -q -b main .; git config user.name n; git config user.email e@x')
})
afterEach(() => testHome.close())

function sh(line: string, cwd = testHome.project): string {
  return execFileSync('sh', ['-ec', line], { cwd, env: testHome.env, stdio: 'pipe' }).toString().trim()
}

function commitProject(...titles: string[]): void {
  fs.writeFileSync(testHome.path('PRD.md'), titles.map(title => `- [ ] make it [${title}]\n`).join(''))
  sh('echo first > text.txt; git add .; git commit -qm first')
}

function ralph(...args: string[]): Promise<SessionView> {
  return testHome.json<SessionView>('ralph', '--agent', 'codex', '--no-verify', '--retries', '1', ...args)
}

async function ended(session: SessionView): Promise<Loop> {
  await testHome.ended(session.name, 120_000)
  return readLoop(testHome.home, session.id) as Loop
}

/** Returns the command of the note that begins like this. */
function cureOf({ notes }: Loop, start: RegExp): string {
  const command = notes.find(note => start.test(note))?.match(/`([^`]+)`/)?.[1]
  expect(command, notes.join('\n')).toBeDefined()
  return command ?? 'false'
}

it('the loop names commits of the user that an agent removed from the branch, and its command brings them back', async () => {
  commitProject('dropprev a.txt', 'good b.txt')
  sh('echo mine > mine.txt; git add .; git commit -qm mine')
  const loop = await ended(await ralph())
  expect(loop.tasks.map(({ evidence }) => evidence?.files)).toEqual([['a.txt'], ['b.txt']])
  expect(fs.existsSync(testHome.path('mine.txt'))).toBe(false)
  sh(cureOf(loop, /^the agent of task 1 removed commit \w{10} of yours from main \(lost: mine\.txt\): /))
  expect(sh('ls; git log --format=%s').split('\n').sort()).toEqual(
    expect.arrayContaining(['PRD.md', 'a.txt', 'b.txt', 'mine.txt', 'make a.txt', 'make b.txt', 'mine', 'first']),
  )
})

it('the loop leaves HEAD alone in the middle of an agent’s rebase, and its command ends the rebase without a change of the branch', async () => {
  commitProject('midrebase a.txt')
  sh('echo second > text.txt; git commit -qam second')
  const before = sh('git rev-parse main')
  const loop = await ended(await ralph())
  expect(loop.tasks[0]?.state).toMatchObject({ name: 'blocked', failure: { kind: 'unfinished' } })
  expect(sh('git rev-parse main; git rev-parse --abbrev-ref HEAD').split('\n')).toEqual([before, 'HEAD'])
  const start = /^the agent of task 1 left main for no branch and did not finish a rebase; the loop does not move HEAD/
  sh(cureOf(loop, start))
  expect(sh('git rev-parse main HEAD; git status --porcelain; git branch --show-current').split('\n')).toEqual([
    before,
    before,
    'main',
  ])
})

it.each([['serial'], ['parallel']])(
  'after the project was moved, resume --cwd credits the agent that worked meanwhile: %s',
  async kind => {
    commitProject('slow a.txt', 'good b.txt')
    const session = await ralph(...(kind === 'parallel' ? ['--parallel', '1', '--land'] : []))
    await waitUntil('the agent works', () => (agent.tempers().length > 0 ? true : undefined))
    const moved = `${testHome.project}-moved`
    fs.renameSync(testHome.project, moved)
    fs.writeFileSync(agent.gate, '')
    const call = async (...args: string[]): Promise<string> => {
      const { stdout, stderr, code } = await testHome.call(args, { cwd: moved })
      expect({ code, stderr }, args.join(' ')).toMatchObject({ code: 0 })
      return stdout
    }
    await testHome.call(['wait', session.name], { cwd: moved })
    const board = JSON.parse(await call('ralph', 'status', session.name, '--json')) as { next: string }
    expect(board.next).toBe(`oneshot resume ${session.name} --cwd DIR`)
    expect(await call('status', session.name)).toContain(`its folder ${testHome.project} is gone`)
    await call('resume', session.name, '--cwd', '.')
    await call('wait', session.name)
    const { tasks, notes } = readLoop(testHome.home, session.id) as Loop
    expect(
      tasks.map(({ state, tries }) => [state.name, tries.length]),
      notes.join('\n'),
    ).toEqual([
      ['done', 1],
      ['done', 1],
    ])
    expect(notes).toEqual([])
    expect(fs.existsSync(testHome.project)).toBe(false)
    expect(sh('git worktree list; git branch', moved).split('\n')).toHaveLength(2)
    expect(sh('git ls-files', moved).split('\n')).toEqual(['PRD.md', 'a.txt', 'b.txt', 'text.txt'])
    fs.mkdirSync(testHome.project)
  },
)

it('a worker that was stopped with its loop continues in the moved project', { tags: ['extended'] }, async () => {
  commitProject('slow a.txt')
  const session = await ralph('--parallel', '1')
  await waitUntil('the agent works', () => (agent.tempers().length > 0 ? true : undefined))
  await testHome.ok('stop', session.name)
  const moved = `${testHome.project}-moved`
  fs.renameSync(testHome.project, moved)
  fs.writeFileSync(agent.gate, '')
  for (const args of [
    ['resume', session.name, '--cwd', '.'],
    ['wait', session.name],
    ['ralph', 'land'],
  ])
    expect(await testHome.call(args, { cwd: moved }), args.join(' ')).toMatchObject({ code: 0 })
  expect(fs.existsSync(`${moved}/a.txt`)).toBe(true)
  expect(readLoop(testHome.home, session.id)?.tasks[0]?.tries).toHaveLength(1)
  expect(sh('git worktree list; git branch', moved).split('\n')).toHaveLength(2)
  expect(fs.existsSync(testHome.project)).toBe(false)
  fs.mkdirSync(testHome.project)
})

it('a loop names the command for a deleted branch before the one that checks it out', {
  tags: ['extended'],
}, async () => {
  commitProject('pdeletesmain a.txt')
  const { notes } = await ended(await ralph('--parallel', '1'))
  const commands = notes.flatMap(note => /(git (?:branch main \w{10}|checkout main))/.exec(note)?.[1] ?? [])
  expect(commands, notes.join('\n')).toEqual([expect.stringMatching(/^git branch main \w{10}$/), 'git checkout main'])
  sh(commands.join('; '))
  expect(sh('git branch --show-current')).toBe('main')
})

it('landing removes the worktrees of finished tasks that the loop had kept, and their notes', {
  tags: ['extended'],
}, async () => {
  commitProject('good a.txt', 'plocksown b.txt', 'good c.txt')
  const session = await ralph('--parallel', '1')
  const { notes } = await ended(session)
  expect(notes).toEqual([expect.stringMatching(/ is kept: .* is locked: /)])
  sh('git worktree unlock .agent/worktrees/*/2')
  await testHome.ok('ralph', 'land', session.name)
  expect(sh('git ls-files').split('\n')).toEqual(['PRD.md', 'a.txt', 'b.txt', 'c.txt', 'text.txt'])
  expect(sh('git worktree list; git branch').split('\n')).toHaveLength(2)
  expect(readLoop(testHome.home, session.id)?.notes.filter(note => note.includes('is kept'))).toEqual([])
})

it('the loop names the branch on which an agent worked instead, and a lock that keeps everybody from a commit', {
  tags: ['extended'],
}, async () => {
  commitProject('beside a.txt', 'locks b.txt')
  const loop = await ended(await ralph())
  expect(loop.tasks.map(({ state }) => state.name)).toEqual(['blocked', 'done'])
  sh(cureOf(loop, /^git cannot commit while \S+\/\.git\/index\.lock exists, .* worked on task 2: /))
  sh(cureOf(loop, /^the agent of task 1 changed no file here, and made the branch beside-a\.txt: /))
  expect(sh('ls').split('\n')).toEqual(['PRD.md', 'a.txt', 'b.txt', 'text.txt'])
})

it('clean names the branch with finished tasks that nobody has landed', { tags: ['extended'] }, async () => {
  commitProject('good a.txt')
  const session = await ralph('--parallel', '1')
  const { branch } = await ended(session)
  const { stdout, stderr } = await testHome.call(['clean', session.name], { cwd: testHome.project })
  expect({ stdout: stdout.split('\n')[0], stderr: stderr.trim() }).toEqual({
    stdout: session.name,
    stderr: `the finished tasks of ${session.name} are not landed; they stay on ${branch} in ${testHome.project}: git merge ${branch}`,
  })
  sh(`git merge -q ${branch}`)
  expect(fs.existsSync(testHome.path('a.txt'))).toBe(true)
})
