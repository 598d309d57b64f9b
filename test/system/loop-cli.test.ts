import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LoopView } from '../../src/api/contract/loop-view.ts'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { run } from '../../src/os/run.ts'
import { readChildren } from '../../src/world/store/reader.ts'
import { expectRefusal } from './expect-refusal.ts'
import { TestHome, waitUntil } from './test-home.ts'
import { installScriptedAgent } from './scripted-agent.ts'

let testHome: TestHome
let gate: string
beforeAll(() => {
  testHome = new TestHome({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
})
beforeEach(async () => {
  testHome.beginTest()
  gate = installScriptedAgent(testHome).gate
})
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: testHome.project, env: testHome.env })).stdout.trim()
}

const write = (text: string, file = 'PRD.md'): void => fs.writeFileSync(testHome.path(file), text)

/** A repository with this list in it, committed. */
async function project(...titles: string[]): Promise<void> {
  write(titles.map(title => `- [ ] ${title}\n`).join(''))
  await git('init', '-q', '-b', 'main', '.')
  await git('config', 'user.name', 'n')
  await git('config', 'user.email', 'e@x')
  await git('add', '.')
  await git('commit', '-qm', 'first')
}

const begin = (...args: string[]): Promise<SessionView> =>
  testHome.json<SessionView>('ralph', '--agent', 'codex', ...args)
const boardOf = (name: string): Promise<LoopView> => testHome.json<LoopView>('ralph', 'status', name)

/** Waits until the loop has this many workers. */
function workers({ id }: SessionView, count: number): Promise<SessionView[]> {
  return waitUntil(`${count} work`, async () => {
    const found = (await testHome.list()).filter(({ parent, phase }) => parent === id && phase === 'running')
    return found.length === count ? found : undefined
  })
}

it('ralph retry --fresh tries a blocked task again from the start, and ralph land --dry-run changes nothing', {
  tags: ['extended'],
}, async () => {
  await project('the page write=page.html', 'the logo steps=1')
  await testHome.json('ralph', '--agent', 'demo', '--parallel', '--no-verify', '--retries', '1')
  await testHome.ended('ralph-prd')
  expect(await testHome.ok('ralph', 'land', '--dry-run')).toContain('would land 1 task in main: oneshot/ralph-prd-')
  expect(fs.existsSync(testHome.path('page.html'))).toBe(false)
  const refuse = (task: string, says: string, hint: string): Promise<void> =>
    expectRefusal(testHome, ['ralph', 'retry', task], {
      exit: task === '1' ? 6 : 3,
      code: task === '1' ? 'session-done' : 'no-task',
      says,
      hint,
    })
  await refuse('1', 'task 1 is done', 'untick its box in PRD.md')
  await refuse('9', 'ralph-prd has no task 9', 'its tasks are 1, 2')
  expect(await testHome.json('ralph', 'retry', '2', 'prd', '--fresh')).toMatchObject({ task: { id: '2' }, left: null })
  await testHome.ended('ralph-prd')
  const { tasks } = await boardOf('prd')
  expect(tasks.map(({ state, tries }) => [state, tries])).toEqual([
    ['done', 1],
    ['blocked', 2],
  ])
})

describe('oneshot ralph and build refuse', () => {
  it('a directory without a list', () =>
    expectRefusal(testHome, ['ralph'], {
      exit: 3,
      code: 'no-tasks',
      says: 'there is no list of tasks',
      hint: 'PRD.md',
    }))

  it('a list that does not exist, has no tasks, or has only finished tasks', async () => {
    await project('one')
    write('words\n', 'words.md')
    write('- [x] one\n', 'over.md')
    const refused = (file: string, says: string, hint: string): Promise<void> =>
      expectRefusal(testHome, ['ralph', file], { exit: 3, code: 'no-tasks', says, hint })
    await refused('nowhere.md', 'there is no such file', 'name an existing Markdown or YAML file')
    await refused('words.md', 'words.md', '- [ ]')
    await refused('over.md', 'every task in over.md is ticked already', 'open a box again')
  })

  it('a task that is not in the list', async () => {
    await project('one', 'two')
    const refused = {
      exit: 3,
      code: 'no-task',
      says: 'there is no task 7 in PRD.md',
      hint: 'its tasks are 1, 2',
    } as const
    await expectRefusal(testHome, ['ralph', '--task', '7'], refused)
  })

  it('a directory without a repository, and worktrees without a commit', async () => {
    write('- [ ] one\n')
    const refused = { exit: 3, code: 'no-repository' } as const
    await expectRefusal(testHome, ['ralph'], { ...refused, says: 'is not a git repository', hint: 'git init' })
    await git('init', '-q', '.')
    await expectRefusal(testHome, ['ralph', '--parallel'], { ...refused, says: 'no commit yet', hint: 'git commit' })
  })

  it.each([
    [['--verify', 'true', '--no-verify'], '--verify and --no-verify exclude each other', 'give one of them'],
    [['--once', '--max-iterations', '3'], '--once and --max-iterations exclude each other', 'give one of them'],
    [['--land'], '--land needs worktrees', 'add --parallel'],
    [['--watch'], '--watch does nothing for ralph', 'oneshot ralph status --watch'],
    [['PRD.md', '--prd', 'PRD.md'], 'there are two lists', 'give one of them'],
    [['stauts'], 'there is no file stauts', 'did you mean oneshot ralph status?'],
    [['board'], 'there is no file board', 'did you mean oneshot ralph status?'],
    [['watch'], 'there is no file watch', 'did you mean oneshot ralph status --watch?'],
    [['stop'], 'ralph has no action stop', 'oneshot stop'],
    [['status', '--land', '--parallel'], '--parallel does nothing for ralph status', 'leave it out'],
    [['--agent', 'claud'], 'there is no agent "claud"', 'did you mean --agent claude?'],
  ])('the arguments %j', async (args, says, hint) => {
    await project('one')
    const code = args.includes('claud') ? 'agent-unknown' : 'usage'
    await expectRefusal(testHome, ['ralph', ...args], { exit: 2, code, says, hint })
  })

  it('status and land in a directory without a loop', async () => {
    const none = {
      exit: 3,
      code: 'no-loop',
      says: 'there is no loop in this directory',
      hint: 'oneshot ralph',
    } as const
    await expectRefusal(testHome, ['ralph', 'status'], none)
    await expectRefusal(testHome, ['ralph', 'land'], none)
    await testHome.run('--headless', '--name', 'plain', '--', 'true')
    const refused = { exit: 3, code: 'no-loop', hint: 'oneshot ralph PRD.md' } as const
    await expectRefusal(testHome, ['ralph', 'status'], { ...refused, says: 'there is no loop in this directory' })
    await expectRefusal(testHome, ['ralph', 'land', 'plain'], { ...refused, says: 'command-plain is not a loop' })
  })

  it('a list that is broken, and an empty idea', async () => {
    await project('one')
    write('tasks: [\n', 'bad.yaml')
    const refused = { exit: 3, code: 'no-tasks', says: 'reading bad.yaml', hint: 'correct that' } as const
    await expectRefusal(testHome, ['ralph', 'bad.yaml'], refused)
    const empty = { exit: 2, code: 'prompt-empty', says: 'is empty', hint: 'oneshot build "' } as const
    await expectRefusal(testHome, ['build', ''], empty)
  })

  it('an idea if a plan exists already, and build without an idea', async () => {
    await project('one')
    const refused = {
      exit: 2,
      code: 'usage',
      says: 'PRD.md is a plan already: 1 task, 1 of them open',
      hint: 'oneshot ralph PRD.md',
    } as const
    await expectRefusal(testHome, ['build', 'a tool'], refused)
    await expectRefusal(testHome, ['build'], {
      exit: 2,
      code: 'usage',
      says: 'build needs an idea',
      hint: 'oneshot build',
    })
  })
})

it('ralph starts one loop per list, and numbers loops of the same name in other places', async () => {
  await project('make it [slow a.txt]')
  const loop = await begin()
  await workers(loop, 1)
  for (const args of [
    ['ralph', '--agent', 'codex', '--name', 'other'],
    ['ralph', 'PRD.md', '--agent', 'codex'],
  ])
    expect(await testHome.oneshot(...args)).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(
        /error: ralph-prd works on PRD.md here\nhint: oneshot ralph status ralph-prd, or oneshot stop ralph-prd\n$/,
      ),
    })
  write('- [ ] make it [slow b.txt]\n', 'OTHER.md')
  expect(await testHome.oneshot('ralph', 'OTHER.md', '--agent', 'codex', '--name', 'prd')).toMatchObject({ code: 6 })
  await git('clone', '-q', '.', 'sub')
  write('- [ ] make it [slow c.txt]\n', 'sub/PRD.md')
  const beside = await begin('--cwd', testHome.path('sub'))
  expect(beside).toMatchObject({ name: 'ralph-prd-2', task: 'prd-2' })
  expect((await workers(beside, 1)).map(({ name }) => name)).toEqual(['codex-prd-2-1-1'])
  expect(await testHome.oneshot('tasks', 'prd', 'add', 'more')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('its tasks are those of PRD.md'),
  })
})

it('ralph status works at once, and a loop reports a damaged record and keeps the file', {
  tags: ['extended'],
}, async () => {
  await project('make it [slow a.txt]')
  const loop = await begin()
  expect(await boardOf('prd')).toMatchObject({ name: 'ralph-prd', list: 'PRD.md' })
  await workers(loop, 1)
  await testHome.ok('stop', 'prd')
  const file = path.join(testHome.home.sessions, loop.id, 'loop', 'loop.json')
  const record = fs.readFileSync(file, 'utf8')
  const newer = JSON.stringify({ ...(JSON.parse(record) as object), version: 999 })
  const { loop: whole } = JSON.parse(record) as { loop: { tasks: object[] } }
  const [task] = whole.tasks
  const without = (fields: object): string => JSON.stringify({ version: 1, loop: { ...whole, ...fields } })
  for (const [text, reason] of [
    ['{"version":1,"loop":', 'it is damaged'],
    [without({ tasks: [null] }), 'it is damaged'],
    [without({ tasks: [{}], spec: 1 }), 'it is damaged'],
    [without({ tasks: [{ ...task, state: { name: 'zzz' } }] }), 'it is damaged'],
    [without({ tasks: [{ ...task, tries: [1] }] }), 'it is damaged'],
    [without({ tasks: [task, task] }), 'it has a task twice'],
    [newer, 'a newer oneshot wrote it'],
  ] as const) {
    fs.writeFileSync(file, text)
    expect((await testHome.oneshot('ralph', 'status', 'prd')).stderr).toContain(`reading ${file}: `)
    expect(await testHome.ok('status', 'prd')).toContain(reason)
    await testHome.ok('resume', 'prd')
    expect((await testHome.ended('ralph-prd')).reason).toContain(reason)
    expect(fs.readFileSync(file, 'utf8')).toBe(text)
  }
  expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe('- [ ] make it [slow a.txt]\n')
})

it('ralph tells its list, check, agent and place before it starts', async () => {
  await project('make it [good a.txt]', 'make it [good b.txt]')
  write('test:\n\ttrue\n', 'Makefile')
  const { stdout, stderr } = await testHome.oneshot('ralph', '--agent', 'codex', '--autonomy', 'full')
  expect(stdout).toBe('ralph-prd\n')
  expect(stderr.split('\n').map(line => line.trim())).toEqual([
    'list    PRD.md: 2 tasks are open',
    'check   make test (Makefile has a test target; --verify LINE for another, --no-verify for none)',
    'agent   codex, full autonomy',
    'where   in this folder, on main, one task after the other',
    '',
  ])
  expect(await testHome.ended('ralph-prd')).toMatchObject({ outcome: 'done' })
  expect(await testHome.ok('ralph', 'status')).toMatch(
    /^✔ done ralph-prd: 2 of 2 tasks done and proven\n.* 2 of 2 done\n/,
  )
  expect((await boardOf('ralph-prd')).tasks.map(({ proof }) => proof)).toEqual(['checked', 'checked'])
})

it('ralph land says that no branch is checked out, and keeps the branch of the loop', async () => {
  await project('make it [good a.txt]')
  const { id } = await begin('--parallel', '1', '--no-verify')
  expect(await testHome.ended(id)).toMatchObject({ outcome: 'done' })
  await git('checkout', '-q', '--detach')
  await git('commit', '-q', '--allow-empty', '-m', 'mine')
  const landed = await testHome.ok('ralph', 'land')
  expect(landed).toMatch(
    /^✔ landed 1 task in HEAD \(no branch is checked out\): oneshot\/ralph-prd-\w{4}, merged as \w{10}\n/,
  )
  expect(landed).toMatch(/its branch and worktree stay: no other branch has its commits; git switch -c NAME makes one$/)
  expect(fs.existsSync(testHome.path('a.txt'))).toBe(true)
  expect(await git('branch', '--list', 'oneshot/*')).toContain('oneshot/ralph-prd-')
})

describe('while a loop runs,', () => {
  it('list shows its workers below it, and a short name means the loop', async () => {
    await project('make it [slow a.txt]', 'make it [slow b.txt]', 'make it [good c.txt]')
    const loop = await begin('--parallel', '2', '--max-output', '7M')
    const names = (await workers(loop, 2)).map(({ name }) => name)
    const limits = readChildren(testHome.home, loop.id).map(({ spec }) => spec.supervision.maxOutput)
    expect(limits).toEqual([7 * 1024 ** 2, 7 * 1024 ** 2])
    expect(names.toSorted()).toEqual(['codex-prd-1-1', 'codex-prd-2-2'])
    const rows = (await testHome.ok('list', '--no-headers')).split('\n').map(row => row.split(/ {2,}/)[0])
    expect(rows).toEqual(['ralph-prd', '└ codex-prd-1-1', '└ codex-prd-2-2'])
    for (const words of [[], ['prd'], ['p']])
      expect((await testHome.json<SessionView>('status', ...words)).id).toBe(loop.id)
    expect(await testHome.ok('status', 'prd')).toContain('0 of 3 done · 2 working · 1 open')
    const { code, stderr } = await testHome.oneshot('send', 'prd', 'hello')
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/is a loop.*\nhint: oneshot send codex-prd-\S+ "…", or oneshot send/),
    })
    expect(await testHome.oneshot('clean', 'codex-prd-1-1')).toMatchObject({ code: 6 })
    expect(await testHome.ok('clean', '--yes')).toBe('')

    await testHome.ok('stop', 'prd')
    expect((await testHome.list()).filter(({ phase }) => phase !== 'ended')).toEqual([])
    expect((await boardOf('prd')).tasks.map(({ state }) => state)).toEqual(['paused', 'paused', 'open'])
    expect((await testHome.ok('list', '--no-headers')).split('\n')).toHaveLength(1)
    expect((await testHome.ok('list', '--no-headers', '--all')).split('\n')).toHaveLength(3)

    fs.writeFileSync(gate, '')
    await testHome.ok('resume', 'prd')
    expect(await testHome.ended('ralph-prd')).toMatchObject({ outcome: 'done' })
    expect(fs.existsSync(testHome.path('a.txt'))).toBe(false)
    expect(await testHome.ok('ralph', 'land')).toMatch(
      /^✔ landed 3 tasks in main: oneshot\/ralph-prd-\w{4}, moved on to \w{10}\n {2}1 {2}make it/,
    )
    expect(['a.txt', 'b.txt', 'c.txt'].filter(file => !fs.existsSync(testHome.path(file)))).toEqual([])
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).not.toContain('[ ]')
    expect(await git('branch', '--format', '%(refname:short)')).toBe('main')
    expect(await boardOf('prd')).toMatchObject({ next: null, landedAt: expect.any(String) })
    expect(await testHome.ok('ralph', 'land')).toMatch(/^✔ landed already: all of oneshot\/ralph-prd-\w{4} is in main$/)
    await testHome.ok('clean', 'ralph-prd')
    expect(await testHome.list()).toEqual([])
  })

  it('ralph land refuses it; a loop without worktrees has nothing to land', { tags: ['extended'] }, async () => {
    await project('make it [slow a.txt]')
    const loop = await begin('--parallel', '1')
    await workers(loop, 1)
    const running = {
      exit: 6,
      code: 'session-running',
      says: 'ralph-prd is still running',
      hint: 'oneshot stop ralph-prd',
    } as const
    await expectRefusal(testHome, ['ralph', 'land', 'prd'], running)
    await testHome.ok('stop', 'prd')
    const nothing = { exit: 6, code: 'cannot-land', hint: 'oneshot ralph status ralph-prd' } as const
    await expectRefusal(testHome, ['ralph', 'land', 'prd'], { ...nothing, says: 'has merged nothing so far' })
    const beside = await begin('--name', 'here')
    const here = { exit: 6, code: 'cannot-land', says: 'works in your checkout', hint: 'git log' } as const
    await workers(beside, 1)
    await expectRefusal(testHome, ['ralph', 'land', 'here'], here)
    fs.writeFileSync(gate, '')
    await testHome.ended(beside.name)
    await expectRefusal(testHome, ['ralph', 'land', 'here'], here)
    await expectRefusal(testHome, ['resume', 'here'], {
      exit: 6,
      code: 'session-done',
      says: 'ralph-here is done',
      hint: 'add a box to PRD.md, then: oneshot ralph',
    })
  })
})

it('ralph land reports an obstacle and changes nothing', { tags: ['extended'] }, async () => {
  await project('make it [good a.txt]')
  await testHome.ended((await begin('--parallel', '1')).name)
  write('mine\n', 'a.txt')
  const refused = {
    exit: 6,
    code: 'cannot-land',
    says: 'a.txt is changed here as well',
    hint: 'oneshot ralph land ralph-prd',
  } as const
  await expectRefusal(testHome, ['ralph', 'land'], refused)
  fs.rmSync(testHome.path('a.txt'))
  expect(await testHome.json('verify')).toMatchObject({
    verdict: 'proven',
    work: { names: ['a.txt'] },
    remarks: [expect.stringContaining('oneshot ralph land ralph-prd')],
  })
  const branch = await git('branch', '--list', 'oneshot/*', '--format', '%(refname:short)')
  const tip = await git('rev-parse', branch)
  await git('update-ref', '-d', `refs/heads/${branch}`)
  const gone = { exit: 6, code: 'cannot-land', says: `the branch ${branch} of ralph-prd is gone` } as const
  await expectRefusal(testHome, ['ralph', 'land'], { ...gone, hint: `git branch ${branch} ${tip.slice(0, 10)}` })
  await git('branch', branch, tip)
  expect(await testHome.json('ralph', 'land')).toMatchObject({
    into: 'main',
    isForward: true,
    tasks: [{ id: '1' }],
    kept: null,
  })
})

it('ralph names the earlier loop that is not finished when it starts a new one', { tags: ['extended'] }, async () => {
  await project('make it [slow a.txt]')
  const loop = await begin()
  await workers(loop, 1)
  await testHome.ok('stop', 'prd')
  const { code, stderr } = await testHome.oneshot('ralph', '--agent', 'codex')
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining(`continue it with: oneshot resume ${loop.id}\n`),
  })
})

it.each([
  ['with --squash again', ['--squash']],
  ['as a merge', []],
])(
  'a loop that landed with --squash, continued and got another task lands %s',
  { tags: ['extended'] },
  async (_, how) => {
    await project('make it [both a.txt]', 'make it [slow b.txt]')
    const loop = await begin('--parallel', '1', '--no-verify')
    const isDone = async (): Promise<boolean> => (await boardOf('prd')).tasks[0]?.state === 'done'
    await waitUntil('the first task is merged', async () => ((await isDone()) ? true : undefined))
    await workers(loop, 1)
    await testHome.ok('stop', 'prd')
    expect(await testHome.json('ralph', 'land', '--squash')).toMatchObject({ tasks: [{ id: '1' }], isForward: false })
    fs.appendFileSync(testHome.path('PRD.md'), '- [ ] make it [both c.txt]\n')
    await git('commit', '-qam', 'one more task')
    fs.writeFileSync(gate, '')
    await testHome.ok('resume', 'prd')
    await testHome.ended('ralph-prd', 60_000)
    expect((await boardOf('prd')).tasks.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
    const landed = await testHome.json<{ commit: string }>('ralph', 'land', ...how)
    expect(landed).toMatchObject({ isNews: true, tasks: [{ id: '1' }, { id: '2' }, { id: '3' }] })
    expect(fs.readFileSync(testHome.path('shared.txt'), 'utf8')).toBe('c.txt\n')
    expect(fs.existsSync(testHome.path('b.txt'))).toBe(true)
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8').replaceAll(/- \[(.)\].*\n/g, '$1')).toBe('xxx')
    expect(await testHome.json('ralph', 'land', ...how), 'again').toMatchObject({
      commit: landed.commit,
      isNews: false,
    })
  },
)

it('ralph land ticks a list that git does not track', { tags: ['extended'] }, async () => {
  await project('make it [good a.txt]')
  write('- [ ] make it [good b.txt]\n', 'TODO.md')
  await testHome.ended((await begin('TODO.md', '--parallel', '1')).name)
  expect(fs.readFileSync(testHome.path('TODO.md'), 'utf8')).toContain('- [ ]')
  expect(await testHome.json('ralph', 'land')).toMatchObject({ marked: 1 })
  expect(fs.readFileSync(testHome.path('TODO.md'), 'utf8')).toContain('- [x]')
})

it('ralph status --json prints the fields that docs/json.md names', async () => {
  await project('make it [good a.txt]')
  await testHome.ended((await begin()).name)
  const page = fs.readFileSync(path.resolve(import.meta.dirname, '../../docs/json.md'), 'utf8')
  const [whole = '', task = ''] = (page.split('## Loops')[1]?.split('\n## ')[0] ?? '').split('A task of')
  const fields = (table: string): string[] => [...table.matchAll(/^\| `(\w+)` \|/gm)].map(match => match[1] as string)
  const board = await boardOf('prd')
  expect(Object.keys(board).sort()).toEqual(fields(whole).sort())
  expect(Object.keys(board.tasks[0] ?? {}).sort()).toEqual(fields(task).sort())
  const watched = JSON.parse(await testHome.ok('ralph', 'status', '--watch', '--json'))
  expect(watched).toEqual(board)
})
