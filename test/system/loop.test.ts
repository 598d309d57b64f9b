import fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import type { Loop } from '../../src/core/loop/loop-state.ts'
import { formatIso } from '../../src/lib/time.ts'
import { run } from '../../src/os/run.ts'
import { readLoop } from '../../src/state/loop-file.ts'
import { installFakeBd, BeadsProject } from '../../testkit/tracker/beads-project.ts'
import { TestHome, kill, waitUntil } from './test-home.ts'
import { installScriptedAgent } from './scripted-agent.ts'

let testHome: TestHome
let agent: ReturnType<typeof installScriptedAgent>
beforeEach(async () => {
  testHome = new TestHome({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
  agent = installScriptedAgent(testHome)
  await git('init', '-q', '-b', 'main', '.')
  await git('config', 'user.name', 'n')
  await git('config', 'user.email', 'e@x')
})
afterEach(() => testHome.close())

async function git(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run('git', args, { cwd: testHome.project, env: testHome.env })
  expect({ code, stderr: code === 0 ? '' : stderr }, `git ${args.join(' ')}`).toEqual({ code: 0, stderr: '' })
  return stdout.trim()
}

/** A list of these tasks, committed, in a project whose check fails while there is a file called broken. */
async function project(...titles: string[]): Promise<string> {
  const list = `# A plan\n\nSome words.\n\n${titles.map(title => `- [ ] ${title}\n`).join('')}\nMore words.\n`
  fs.writeFileSync(testHome.path('PRD.md'), list)
  fs.writeFileSync(testHome.path('Makefile'), 'test:\n\t@test ! -e broken || { echo it is broken; exit 1; }\n')
  await git('add', '.')
  await git('commit', '-qm', 'first')
  return list
}

function ralph(...args: string[]): Promise<SessionView> {
  return testHome.json<SessionView>('ralph', '--agent', 'codex', '--retries', '2', ...args)
}

function loopOf({ id }: SessionView): Loop {
  return readLoop(testHome.home, id) as Loop
}

/** Each task by the name of its file, and how it stands. */
function board(session: SessionView): Record<string, string> {
  const name = (title: string): string => /\[\S+ ([^\] ]*)/.exec(title)?.[1] ?? title
  return Object.fromEntries(loopOf(session).tasks.map(({ item, state }) => [name(item.title), state.name]))
}

const ticked = (list: string, ...files: string[]): string =>
  files.reduce((text, file) => text.replace(new RegExp(`- \\[ \\] (.*${file})`), '- [x] $1'), list)

describe('a loop with one worker', () => {
  it('judges correctly agents that work, do nothing, lie, break the check and die', async () => {
    const list = await project(
      'make it [good a.txt]',
      'make it [idle|good b.txt]',
      'make it [liar c.txt]',
      'make it [breaks|mends d.txt]',
      'make it [dies e.txt]',
      'make it [ticks f.txt]',
      'make it [quiet g.txt]',
      'make it [idle h.txt]',
    )
    const session = await ralph()
    const { outcome, reason } = await testHome.ended(session.name, 120_000)
    expect(board(session)).toEqual({
      'a.txt': 'done',
      'b.txt': 'done',
      'c.txt': 'blocked',
      'd.txt': 'done',
      'e.txt': 'done',
      'f.txt': 'done',
      'g.txt': 'done',
      'h.txt': 'blocked',
    })
    expect({ outcome, reason }).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/^6 of 8 tasks done; tasks 3, 8 are blocked/),
    })
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe(
      ticked(list, 'a.txt', 'b.txt', 'd.txt', 'e.txt', 'f.txt', 'g.txt'),
    )
    expect(fs.existsSync(testHome.path('broken'))).toBe(false)
    expect(agent.tempers().filter(line => line.startsWith('c.txt'))).toEqual(['c.txt liar', 'c.txt liar'])
  })

  it('continues at the right task with the right count of tries after a stop', async () => {
    await project('make it [good a.txt]', 'make it [idle|slow b.txt]', 'make it [good c.txt]')
    const session = await ralph()
    await waitUntil('it waits at the gate', () => (agent.tempers().includes('b.txt slow') ? true : undefined))
    await testHome.ok('stop', session.name)
    const stopped = await testHome.ended(session.name)
    expect(stopped).toMatchObject({ outcome: 'stopped' })
    expect((await testHome.list()).filter(({ phase }) => phase !== 'ended')).toEqual([])
    fs.writeFileSync(agent.gate, '')
    await testHome.ok('resume', session.name)
    expect(await testHome.ended(session.name, 60_000)).toMatchObject({
      outcome: 'done',
      reason: expect.stringContaining(''),
    })
    expect(loopOf(session).tasks.map(({ tries }) => tries.length)).toEqual([1, 2, 1])
    expect(loopOf(session).iterations).toBe(4)
    const stops = loopOf(session).tasks.map(({ tries }) => tries.at(-1)?.stops?.map(({ from }) => formatIso(from)))
    expect(stops, 'the board does not count the time since the stop').toEqual([undefined, [stopped.endedAt], undefined])
  })

  it('does each task once although the loop and its supervisor are killed repeatedly', {
    tags: ['extended'],
  }, async () => {
    const names = Array.from({ length: 6 }, (_, n) => `f${n}.txt`)
    await project(...names.map(name => `make it [good ${name}]`))
    const session = await ralph()
    for (let n = 0; n < 6; n++) {
      const seen = agent.tempers().length
      await waitUntil('it has come further', () => (agent.tempers().length > Math.min(seen, n) ? true : undefined))
      const { pid, phase } = await testHome.status(session.name)
      if (phase === 'ended') break
      if (pid !== null) kill(pid)
      const daemon = await testHome.oneshot('daemon', 'status', '--json')
      if (n % 2 === 1 && daemon.code === 0) kill((JSON.parse(daemon.stdout) as { pid: number }).pid)
    }
    expect(await testHome.ended(session.name, 120_000)).toMatchObject({ outcome: 'done' })
    for (const name of names) expect(fs.readFileSync(testHome.path(name), 'utf8'), name).toBe(`${name}\n`)
    expect(agent.tempers()).toHaveLength(names.length)
  })
})

describe('a loop with parallel workers', () => {
  it('merges proven work, lets agents resolve conflicts, keeps unmerged work on its branch, and lands on request', async () => {
    const list = await project(
      'make it [late e.txt stubborn]',
      'make it [late c.txt]',
      'make it [both b.txt]',
      'make it [good a.txt]',
      'make it [liar d.txt]',
    )
    const head = await git('rev-parse', 'HEAD')
    const index = fs.readFileSync(testHome.path('.git/index'))
    const session = await ralph('--parallel', '5')
    for (const [first, next] of [
      ['b.txt', 'c.txt'],
      ['c.txt', 'e.txt'],
    ] as const) {
      const isMerged = (): boolean => loopOf(session) !== undefined && board(session)[first] === 'done'
      const hasBegun = (): boolean => agent.tempers().includes(`${next} late`)
      await waitUntil(`${first} is merged`, () => (isMerged() && hasBegun() ? true : undefined), 60_000)
      fs.writeFileSync(`${agent.gate}.${next}`, '')
    }
    expect(await testHome.ended(session.name, 180_000)).toMatchObject({ outcome: 'failed' })
    expect(board(session)).toEqual({
      'a.txt': 'done',
      'b.txt': 'done',
      'c.txt': 'done',
      'd.txt': 'blocked',
      'e.txt': 'blocked',
    })
    expect(await git('rev-parse', 'HEAD'), 'your branch').toBe(head)
    expect(fs.readFileSync(testHome.path('.git/index')), 'your index').toEqual(index)
    expect(await git('status', '--porcelain')).toBe('')
    const { branch, tasks } = loopOf(session)
    expect(await git('show', `${branch}:PRD.md`)).toBe(ticked(list, 'a.txt', 'b.txt', 'c.txt').trim())
    const both = (await git('show', `${branch}:shared.txt`)).split('\n').toSorted()
    expect(both).toEqual(['b.txt', 'c.txt'])
    const kept = tasks.find(({ item }) => item.title.includes('e.txt'))?.checkout?.branch ?? ''
    expect(await git('show', `${kept}:shared.txt`), 'what could not be merged').toBe('e.txt')
    await testHome.ok('ralph', 'land', session.name)
    expect(fs.readFileSync(testHome.path('shared.txt'), 'utf8').trim().split('\n').toSorted()).toEqual([
      'b.txt',
      'c.txt',
    ])
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe(ticked(list, 'a.txt', 'b.txt', 'c.txt'))
    expect(await git('status', '--porcelain')).toBe('')
  })

  it('rejects an agent that resolves a conflict by removing one side', { tags: ['extended'] }, async () => {
    await project('make it [late b.txt careless]', 'make it [both a.txt]')
    const session = await ralph('--parallel', '2')
    const isFirst = (): boolean => loopOf(session) !== undefined && board(session)['a.txt'] === 'done'
    await waitUntil('the other is merged', () =>
      isFirst() && agent.tempers().includes('b.txt late') ? true : undefined,
    )
    fs.writeFileSync(`${agent.gate}.b.txt`, '')
    expect(await testHome.ended(session.name, 60_000)).toMatchObject({ outcome: 'failed' })
    expect(board(session)).toEqual({ 'a.txt': 'done', 'b.txt': 'blocked' })
    const { branch, tasks } = loopOf(session)
    expect(await git('show', `${branch}:shared.txt`)).toBe('a.txt')
    const kept = tasks.find(({ item }) => item.title.includes('b.txt'))?.checkout?.branch ?? ''
    expect(await git('show', `${kept}:shared.txt`), 'its work').toBe('b.txt')
  })

  it('lands only proven commits, and not a stray commit on its branch', { tags: ['extended'] }, async () => {
    await project('make it [good a.txt]', 'make it [idle b.txt]')
    const session = await ralph('--parallel', '2', '--retries', '1')
    expect(await testHome.ended(session.name, 60_000)).toMatchObject({ outcome: 'failed' })
    const { branch, tip } = loopOf(session)
    const worktree =
      (await git('worktree', 'list', '--porcelain')).split('\n').find(line => line.endsWith('/all')) ?? ''
    fs.writeFileSync(`${worktree.replace('worktree ', '')}/stray.txt`, 'not proven')
    await run('git', ['add', '.'], { cwd: worktree.replace('worktree ', '') })
    await run('git', ['commit', '-qm', 'stray'], { cwd: worktree.replace('worktree ', ''), env: testHome.env })
    expect(await git('rev-parse', branch ?? '')).not.toBe(tip)
    await testHome.ok('ralph', 'land', session.name)
    expect(await git('rev-parse', 'HEAD')).toBe(tip)
    expect(fs.existsSync(testHome.path('stray.txt'))).toBe(false)
  })

  it('merges each task once although the loop and its supervisor are killed repeatedly', {
    tags: ['extended'],
  }, async () => {
    const names = Array.from({ length: 6 }, (_, n) => `f${n}.txt`)
    const list = await project(...names.map(name => `make it [good ${name}]`))
    const session = await ralph('--parallel', '3', '--land')
    for (let n = 1; n <= 5; n++) {
      const done = (): number => loopOf(session)?.tasks.filter(({ state }) => state.name === 'done').length ?? 0
      await waitUntil(
        `${n} are done`,
        async () => (done() >= n || (await testHome.status(session.name)).phase === 'ended' ? true : undefined),
        60_000,
      )
      const { pid } = await testHome.status(session.name)
      if (pid !== null) kill(pid)
      const daemon = await testHome.oneshot('daemon', 'status', '--json')
      if (n % 2 === 0 && daemon.code === 0) kill((JSON.parse(daemon.stdout) as { pid: number }).pid)
    }
    expect(await testHome.ended(session.name, 120_000)).toMatchObject({ outcome: 'done' })
    for (const name of names) expect(fs.readFileSync(testHome.path(name), 'utf8'), name).toBe(`${name}\n`)
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe(ticked(list, ...names))
    const merges = (await git('log', '--merges', '--format=%s'))
      .split('\n')
      .filter(subject => subject.includes('[good'))
    expect(merges.toSorted()).toEqual(names.map(name => `make it [good ${name}]`))
    expect(await git('worktree', 'list', '--porcelain')).not.toContain(`${loopOf(session).branch}-`)
  })

  it('waits for a usage limit and runs fewer agents afterwards', { tags: ['extended'] }, async () => {
    await project(...['limited', 'good', 'good', 'good'].map((temper, n) => `make it [${temper} f${n}.txt]`))
    const session = await ralph('--parallel', '4')
    expect(await testHome.ended(session.name, 120_000)).toMatchObject({ outcome: 'done' })
    const { limitedAt, concurrency } = loopOf(session)
    expect({ isLimited: limitedAt !== null, width: concurrency }).toEqual({ isLimited: true, width: 2 })
    expect(await testHome.ok('log', session.name)).toContain('fewer agents at a time after a usage limit: 2')
    expect(loopOf(session).tasks.map(({ tries }) => tries.length)).toEqual([1, 1, 1, 1])
  })
})

describe('a loop', () => {
  it('runs one iteration with --once, one task with --task, and at most --max-iterations', {
    tags: ['extended'],
  }, async () => {
    await project(...['a', 'b', 'c', 'd', 'e'].map(name => `make it [good ${name}.txt]`))
    const once = await ralph('--once', '--name', 'once')
    expect(await testHome.ended(once.name)).toMatchObject({
      outcome: 'done',
      reason: '1 of 5 tasks done, one iteration, as requested',
    })
    const third = await ralph('--task', '3', '--name', 'third')
    expect(await testHome.ended(third.name)).toMatchObject({ outcome: 'done', reason: '1 of 1 task done and proven' })
    const more = await ralph('--max-iterations', '2', '--name', 'more')
    expect(await testHome.ended(more.name)).toMatchObject({ outcome: 'failed' })
    expect(Object.values(board(more))).toEqual(['done', 'done', 'done', 'done', 'open'])
    await testHome.ok('resume', more.name)
    expect(await testHome.ended(more.name)).toMatchObject({ outcome: 'done' })
  })

  it('tries a blocked task again after resume', { tags: ['extended'] }, async () => {
    await project('make it [idle|idle|good a.txt]')
    const session = await ralph()
    expect(await testHome.ended(session.name)).toMatchObject({ outcome: 'failed' })
    await testHome.ok('resume', session.name)
    expect(await testHome.ended(session.name), await testHome.ok('log', session.name)).toMatchObject({
      outcome: 'done',
    })
    expect(loopOf(session).tasks[0]?.tries).toHaveLength(3)
  })

  it('does not count the work of other tasks for a task that it tries again', {
    tags: ['extended'],
  }, async () => {
    await project('make it [idle a.txt]', 'make it [good b.txt]')
    const session = await ralph('--retries', '1')
    expect(await testHome.ended(session.name)).toMatchObject({ outcome: 'failed' })
    await testHome.ok('resume', session.name)
    expect(await testHome.ended(session.name)).toMatchObject({ outcome: 'failed' })
    expect(board(session)).toEqual({ 'a.txt': 'blocked', 'b.txt': 'done' })
  })

  it('counts a check that cannot run as failed', { tags: ['extended'] }, async () => {
    await project('make it [good a.txt]')
    const session = await ralph('--retries', '1', '--verify', './run-tests.sh')
    expect(await testHome.ended(session.name)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('the check fails: ./run-tests.sh'),
    })
  })

  it('reports a list that is missing at resume, and continues after the list is restored', {
    tags: ['extended'],
  }, async () => {
    const list = await project('make it [idle|slow a.txt]', 'make it [good b.txt]')
    const session = await ralph()
    await waitUntil('it waits at the gate', () => (agent.tempers().includes('a.txt slow') ? true : undefined))
    await testHome.ok('stop', session.name)
    await testHome.ended(session.name)
    fs.rmSync(testHome.path('PRD.md'))
    fs.writeFileSync(agent.gate, '')
    await testHome.ok('resume', session.name)
    const failed = await testHome.ended(session.name)
    expect(failed).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/^PRD\.md does not exist; /) })
    const command = /`(.*)` brings it back/.exec(failed.reason ?? '')?.[1] ?? ''
    expect(await run('sh', ['-c', command], { cwd: testHome.project, env: testHome.env })).toMatchObject({ code: 0 })
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe(list)
    await testHome.ok('resume', session.name)
    expect(await testHome.ended(session.name)).toMatchObject({ outcome: 'done' })
    expect(loopOf(session).tasks.map(({ tries }) => tries.length)).toEqual([2, 1])
  })

  it('works through a YAML list and keeps its other bytes', { tags: ['extended'] }, async () => {
    await project()
    const tasks = (isDone: boolean): string =>
      `# ours\ntasks:\n  - title: make it [good a.txt] # first\n    completed: ${isDone}\n  - title: 'make it [good b.txt]'\n    completed: ${isDone}\n`
    fs.writeFileSync(testHome.path('tasks.yaml'), tasks(false))
    const session = await ralph('tasks.yaml')
    expect(await testHome.ended(session.name)).toMatchObject({ outcome: 'done' })
    expect(fs.readFileSync(testHome.path('tasks.yaml'), 'utf8')).toBe(tasks(true))
  })
})

describe('a loop on a task tracker', () => {
  it('closes proven issues, and opens an issue again that an agent closed without work', {
    tags: ['extended'],
  }, async () => {
    await project()
    fs.rmSync(testHome.path('PRD.md'))
    const beads = new BeadsProject(testHome.project)
    testHome.env['PATH'] = `${installFakeBd(testHome.root)}:${testHome.env['PATH']}`
    const titles = ['make it [good a.txt]', 'make it [closes b.txt]', 'make it [idle|good c.txt]']
    const [a = '', b = '', c = ''] = titles.map(title => beads.create(title))
    const session = await ralph('beads')
    expect(await testHome.ended(session.name, 60_000)).toMatchObject({ outcome: 'failed' })
    expect(board(session)).toEqual({ 'a.txt': 'done', 'b.txt': 'blocked', 'c.txt': 'done' })
    expect([a, b, c].map(id => beads.status(id))).toEqual(['closed', 'open', 'closed'])
  })
})

describe('oneshot build', () => {
  it('plans an idea in an empty folder and completes the plan', async () => {
    fs.rmSync(testHome.path('.git'), { recursive: true })
    const idea = 'Two files: [good a.txt] and [idle|good b.txt]'
    const session = await testHome.json<SessionView>('build', '--agent', 'codex', '--no-verify', idea)
    expect(await testHome.ended(session.name, 60_000)).toMatchObject({
      outcome: 'done',
      reason: '2 of 2 tasks done (changed files; not tested)',
    })
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe(
      '# The plan\n\n- [x] make it [good a.txt]\n- [x] make it [idle|good b.txt]\n',
    )
    expect(await git('log', '--format=%s')).toBe('make b.txt\nmake a.txt\nplan\nWhat was there at the beginning')
    expect(agent.tempers()).toEqual(['plan', 'a.txt good', 'b.txt idle', 'b.txt good'])
  })

  it('stops after the plan with --plan-only, and gives up if there is no plan after 3 tries', {
    tags: ['extended'],
  }, async () => {
    const session = await testHome.json<SessionView>('build', '--agent', 'codex', '--plan-only', '[good a.txt]')
    expect(await testHome.ended(session.name)).toMatchObject({
      outcome: 'done',
      reason: expect.stringContaining('1 task is planned'),
    })
    expect(agent.tempers()).toEqual(['plan'])
    fs.rmSync(testHome.path('PRD.md'))
    const none = await testHome.json<SessionView>('build', '--agent', 'codex', '--plan-only', 'nothing to do')
    expect(await testHome.ended(none.name)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('there is no plan after 3 tries'),
    })
  })
})
