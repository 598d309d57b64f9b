import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import type { Loop } from '../../src/core/loop/loop-state.ts'
import { readLoop } from '../../src/state/loop-file.ts'
import { run } from '../../src/os/run.ts'
import { HOSTILE_BEHAVIORS } from './hostile-agents.ts'
import { TestHome, waitUntil } from './test-home.ts'
import { installScriptedAgent } from './scripted-agent.ts'

let testHome: TestHome
let agent: ReturnType<typeof installScriptedAgent>
beforeEach(async () => {
  testHome = new TestHome({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
  agent = installScriptedAgent(testHome, HOSTILE_BEHAVIORS)
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

async function project(...titles: string[]): Promise<void> {
  fs.writeFileSync(testHome.path('PRD.md'), titles.map(title => `- [ ] make it [${title}]\n`).join(''))
  fs.writeFileSync(testHome.path('text.txt'), 'first\n')
  fs.writeFileSync(testHome.path('.gitignore'), '*.log\n')
  await git('add', '.')
  await git('commit', '-qm', 'first')
}

function ralph(...args: string[]): Promise<SessionView> {
  return testHome.json<SessionView>('ralph', '--agent', 'codex', '--no-verify', '--retries', '2', ...args)
}

function loopOf({ id }: SessionView): Loop {
  return readLoop(testHome.home, id) as Loop
}

/** Maps each task to the flaws of its tries and its state. */
function board(session: SessionView): Record<string, string> {
  const name = (title: string): string => /\[\S+ ([^\] ]*)/.exec(title)?.[1] ?? title
  return Object.fromEntries(
    loopOf(session).tasks.map(({ item, state, tries }) => [
      name(item.title),
      [...tries.map(({ failure }) => failure?.kind ?? 'good'), state.name].join(' '),
    ]),
  )
}

function boxes(): string {
  return fs.readFileSync(testHome.path('PRD.md'), 'utf8').replaceAll(/- \[(.)\].*\n/g, '$1')
}

it('the loop opens a task again if another agent discarded its work, but not if the work was edited or moved', {
  tags: ['extended'],
}, async () => {
  await project(
    'good a.txt',
    'resethard|good b.txt',
    'revertprev|good c.txt',
    'dropprev d.txt',
    'edits e.txt',
    'squashes f.txt',
    'renames g',
    'rewrites h.txt',
    'oldversion i.txt',
  )
  fs.writeFileSync(testHome.path('yours.txt'), 'not committed')
  const session = await ralph()
  const { outcome } = await testHome.ended(session.name, 120_000)
  const { notes } = loopOf(session)
  expect({ outcome, board: board(session) }, await testHome.ok('log', session.name)).toEqual({
    outcome: 'done',
    board: {
      'a.txt': 'lost good done',
      'b.txt': 'lost lost good done',
      'c.txt': 'lost lost good done',
      'd.txt': 'good done',
      'e.txt': 'good done',
      'f.txt': 'good done',
      g: 'good done',
      'h.txt': 'lost good done',
      'i.txt': 'good done',
    },
  })
  expect(boxes()).toBe('xxxxxxxxx')
  for (const name of ['b.txt', 'c.txt', 'd.txt', 'f.txt', 'i.txt', 'g/moved.txt', 'yours.txt'])
    expect(fs.existsSync(testHome.path(name)), name).toBe(true)
  expect(notes).toContainEqual(
    expect.stringMatching(
      /^task 1 was opened again: commit [0-9a-f]{10} is no longer on main \(a\.txt\); `git cherry-pick [0-9a-f]{10}` brings it back$/,
    ),
  )
  expect(notes).toContainEqual(
    expect.stringMatching(
      /^task 2 was opened again: b\.txt is gone, or has its old content; `git restore --source=\S+ -- b\.txt` brings it back$/,
    ),
  )
  const cure = notes.map(note => /^task 1 .*`(git cherry-pick [^`]+)`/.exec(note)?.[1]).find(text => text !== undefined)
  await git('rm', '-qr', 'g')
  await git('commit', '-qm', 'gone')
  expect(await git(...(cure ?? '').split(' ').slice(1))).toContain('make a.txt')
})

it('the loop does finished work again that an agent deleted from the repository with git gc, and says what is lost', async () => {
  await project('good a.txt', 'erases|good b.txt')
  const session = await ralph()
  const { outcome } = await testHome.ended(session.name, 120_000)
  const { notes, tasks } = loopOf(session)
  expect({ outcome, board: board(session) }, await testHome.ok('log', session.name)).toEqual({
    outcome: 'done',
    board: { 'a.txt': 'lost good done', 'b.txt': 'lost good done' },
  })
  expect(notes).toEqual([
    'task 1 was opened again: a.txt is gone, or has its old content, and git has deleted its content: it must be done again',
  ])
  expect(tasks[1]?.tries[0]?.failure?.reason).toMatch(
    /^the agent deleted the commits from before its work from the repository: .* removed finished work: a\.txt is gone/,
  )
  expect(boxes()).toBe('xx')
})

it('the loop counts no half merge, conflict marker, nested repository, empty commit or ignored file as work', async () => {
  await project(
    'midmerge|aborts a.txt',
    'markers|overwrites b.txt',
    'underlines c.md',
    'ignored|good d.txt',
    'empties|good e.txt',
    'chmods f',
    'halfmarkers|overwrites g.txt',
    'nests|good h.txt',
  )
  const session = await ralph()
  const { outcome } = await testHome.ended(session.name, 120_000)
  expect({ outcome, board: board(session) }, await testHome.ok('log', session.name)).toEqual({
    outcome: 'done',
    board: {
      'a.txt': 'unfinished good done',
      'b.txt': 'unfinished good done',
      'c.md': 'good done',
      'd.txt': 'idle good done',
      'e.txt': 'idle good done',
      f: 'good done',
      'g.txt': 'unfinished good done',
      'h.txt': 'failed good done',
    },
  })
  const reasons = loopOf(session).tasks.map(({ tries }) => tries[0]?.failure?.reason)
  expect([0, 1, 6].map(n => reasons[n])).toEqual(
    ['text.txt', 'b.txt', 'g.txt'].map(name => `conflicts are left in ${name}`),
  )
  expect(reasons[7]).toMatch(/^the agent of task 8 made a repository of its own at nested: its content is not in/)
})

it('the loop credits an agent with no commit of its user, of a merged branch or of another loop', {
  tags: ['extended'],
}, async () => {
  await project('pulls|good a.txt', 'merges|good b.txt', 'waits|good c.txt', 'waits d.txt', 'takes|good e.txt')
  for (const branch of ['other', 'another', 'third']) {
    await git('checkout', '-q', '-b', branch, 'main')
    fs.writeFileSync(testHome.path(`${branch}.txt`), branch)
    await git('add', '.')
    await git('commit', '-qm', branch)
  }
  await git('checkout', '-q', 'main')
  fs.writeFileSync(testHome.path('OTHER.md'), '- [ ] make it [good z.txt]\n')
  const session = await ralph('PRD.md')
  for (const file of ['c.txt', 'd.txt']) {
    await waitUntil('an agent waits', () => (agent.tempers().includes(`${file} waits`) ? true : undefined), 60_000)
    fs.writeFileSync(testHome.path(`user-${file}`), 'mine')
    await git('add', `user-${file}`)
    await git('commit', '-qm', 'mine')
    if (file === 'c.txt') {
      const refused = await testHome.oneshot('ralph', 'OTHER.md', '--agent', 'codex')
      expect(refused.code).not.toBe(0)
      expect(refused.stderr).toContain(`${session.name} works in this checkout, one task after the other`)
      expect(refused.stderr).toContain(`oneshot stop ${session.name}; or work in worktrees: --parallel`)
    }
    fs.writeFileSync(`${agent.gate}.${file}`, '')
  }
  expect(await testHome.ended(session.name, 120_000)).toMatchObject({ outcome: 'failed' })
  expect(board(session), await testHome.ok('log', session.name)).toEqual({
    'a.txt': 'idle good done',
    'b.txt': 'idle good done',
    'c.txt': 'idle good done',
    'd.txt': 'idle idle blocked',
    'e.txt': 'idle good done',
  })
  expect(loopOf(session).tasks[2]?.evidence).toMatchObject({ commitCount: 1, files: ['c.txt'] })
  expect(loopOf(session).tasks[3]?.state).toMatchObject({
    failure: {
      reason: expect.stringContaining('a commit that it did not make itself did not count'),
    },
  })
  const other = await ralph('OTHER.md', '--name', 'beside')
  await testHome.ended(other.name)
  expect(board(other)).toEqual({ 'z.txt': 'good done' })
})

it('the loop notices an agent that leaves the branch, and finished work that is missing at resume', async () => {
  await project('branches a.txt', 'detaches b.txt', 'goesback|good c.txt', 'idle|idle|good d.txt')
  const session = await ralph()
  expect(await testHome.ended(session.name, 120_000), await testHome.ok('log', session.name)).toMatchObject({
    outcome: 'failed',
  })
  expect(board(session)).toEqual({
    'a.txt': 'good done',
    'b.txt': 'good done',
    'c.txt': 'failed good done',
    'd.txt': 'idle idle blocked',
  })
  expect(await git('symbolic-ref', '--short', 'HEAD')).toBe('main')
  expect(loopOf(session).notes).toEqual([
    'the agent of task 1 left main for elsewhere; its commits from there are on main now',
    'the agent of task 2 left main for no branch; its commits from there are on main now',
    'the agent of task 3 left main for old; main is checked out again, and its commits are on old: git merge old',
  ])
  await git('checkout', '-q', 'old')
  await testHome.ok('resume', session.name)
  expect(await testHome.ended(session.name)).toMatchObject({
    outcome: 'failed',
    reason: `this loop works on main, and old is checked out: git checkout main, then oneshot resume ${session.name}`,
  })
  await git('checkout', '-q', 'main')
  fs.rmSync(testHome.path('a.txt'))
  await testHome.ok('resume', session.name)
  expect(await testHome.ended(session.name, 60_000)).toMatchObject({ outcome: 'done' })
  expect(board(session)).toMatchObject({ 'a.txt': 'lost good done', 'd.txt': 'idle idle good done' })
  expect(fs.existsSync(testHome.path('a.txt'))).toBe(true)
})

it('the loop stops with a reason if the repository is gone or its branch cannot be checked out again', {
  tags: ['extended'],
}, async () => {
  await project('good a.txt', 'stays b.txt', 'rmgit c.txt')
  const session = await ralph()
  expect(await testHome.ended(session.name, 60_000)).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(
      /^the agent of task 2 left main for dirty, and main cannot be checked out again \(.*\): git checkout main, then oneshot resume/,
    ),
  })
  await git('checkout', '-q', '-f', 'main')
  await testHome.ok('resume', session.name)
  expect(await testHome.ended(session.name, 60_000), await testHome.ok('log', session.name)).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/\.git was deleted while an agent worked on task 3/),
  })
})

it('the loop stops if an agent leaves git in the middle of an operation, and reports commits that an agent undid', {
  tags: ['extended'],
}, async () => {
  await project('good a.txt', 'uncommits b.txt', 'picks c.txt', 'good d.txt')
  await git('checkout', '-q', '-b', 'side')
  fs.writeFileSync(testHome.path('text.txt'), 'side\n')
  await git('commit', '-qam', 'side')
  await git('checkout', '-q', 'main')
  const session = await ralph()
  const { outcome, reason } = await testHome.ended(session.name, 120_000)
  expect({ outcome, board: board(session) }, await testHome.ok('log', session.name)).toEqual({
    outcome: 'failed',
    board: {
      'a.txt': 'good done',
      'b.txt': 'good done',
      'c.txt': 'unfinished unfinished blocked',
      'd.txt': 'open',
    },
  })
  expect(reason).toContain('task 3 left git in the middle of something (conflicts are left in text.txt); git status')
  expect(loopOf(session).notes).toEqual([
    expect.stringMatching(
      /^after the agent of task 2 worked, commit [0-9a-f]{10} of task 1 is no longer on the branch, and a\.txt is not committed; `git add -- a\.txt && git commit` commits it again$/,
    ),
  ])
  await git('cherry-pick', '--abort')
  await testHome.ok('resume', session.name)
  await testHome.ended(session.name, 60_000)
  expect(board(session), 'only the task that did it fails again').toMatchObject({ 'd.txt': 'open' })
})

it('the loop watches the user’s checkout while agents work in worktrees, and repairs worktrees and branches that they remove', {
  tags: ['extended'],
}, async () => {
  await project(
    'good a.txt',
    'pcommitmain|good b.txt',
    'pmovemain c.txt',
    'prmsiblings d.txt',
    'pbranchdel e.txt',
    'premoves|prestores f.txt',
    'pwipemain g.txt',
    'prmlink h.txt',
    'prmentries i.txt',
    'plocks j.txt',
  )
  const first = await git('rev-parse', 'HEAD')
  fs.writeFileSync(testHome.path('text.txt'), 'not committed\n')
  fs.writeFileSync(testHome.path("it's yours.txt"), 'not committed either\n')
  const session = await ralph('--parallel', '1')
  const { outcome } = await testHome.ended(session.name, 180_000)
  const { notes, branch } = loopOf(session)
  expect({ outcome, board: board(session) }, await testHome.ok('log', session.name)).toEqual({
    outcome: 'done',
    board: {
      'a.txt': 'good done',
      'b.txt': 'failed good done',
      'c.txt': 'good done',
      'd.txt': 'good done',
      'e.txt': 'good done',
      'f.txt': 'lost good done',
      'g.txt': 'good done',
      'h.txt': 'good done',
      'i.txt': 'good done',
      'j.txt': 'good done',
    },
  })
  const moved = 'left its worktree and moved main in your checkout from'
  expect(notes).toContainEqual(
    expect.stringMatching(
      `^the agent of task 2 ${moved} ${first.slice(0, 10)} to \\w+: git reset --keep ${first.slice(0, 10)} brings it back$`,
    ),
  )
  expect(notes).toContainEqual(expect.stringContaining(`the agent of task 3 ${moved}`))
  expect(notes).toContainEqual('the branch of task 5 was removed while its agent worked; the loop makes a new one')
  const wiped = notes.find(note => note.startsWith('your uncommitted files: '))
  expect(wiped).toContain(
    "it's yours.txt, text.txt are gone, or have their old content, after the agent of task 7 worked here; `git restore --source=",
  )
  const cure = /`(.*)` brings them back$/.exec(wiped ?? '')?.[1] ?? ''
  await run('sh', ['-c', cure], { cwd: testHome.project, env: testHome.env })
  expect(fs.readFileSync(testHome.path("it's yours.txt"), 'utf8')).toBe('not committed either\n')
  expect(fs.readFileSync(testHome.path('text.txt'), 'utf8')).toBe('not committed\n')
  const files = await git('ls-tree', '--name-only', branch ?? '')
  for (const name of 'abcdefghij') expect(files).toContain(`${name}.txt`)
})

it('the loop reports lines and files that parallel agents remove, and work that two of them claim', {
  tags: ['extended'],
}, async () => {
  await project('manylines a.txt', 'copies b.txt', 'thins c.txt', 'prmfiles d.txt')
  fs.mkdirSync(testHome.path('src'))
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) fs.writeFileSync(testHome.path('src', name), name)
  await git('add', '.')
  await git('commit', '-qm', 'src')
  fs.writeFileSync(testHome.path('text.txt'), 'edited\n')
  const session = await ralph('--parallel', '4')
  await waitUntil('b.txt is begun', () => (agent.tempers().includes('b.txt copies') ? true : undefined), 60_000)
  fs.writeFileSync(`${agent.gate}.a.txt`, '')
  for (const [before, next] of [
    ['b.txt', 'c.txt'],
    ['c.txt', 'd.txt'],
  ] as const) {
    const isDone = (): boolean => loopOf(session) !== undefined && board(session)[before]?.endsWith('done') === true
    await waitUntil(`${before} is done`, () => (isDone() ? true : undefined), 60_000)
    fs.writeFileSync(`${agent.gate}.${next}`, '')
  }
  const { outcome } = await testHome.ended(session.name, 120_000)
  const { notes } = loopOf(session)
  expect({ outcome, board: board(session) }, await testHome.ok('log', session.name)).toEqual({
    outcome: 'done',
    board: { 'a.txt': 'good done', 'b.txt': 'good done', 'c.txt': 'good done', 'd.txt': 'good done' },
  })
  expect(notes).toContainEqual(
    'task 2 changed nothing that was not merged before: a.txt came with another task as well',
  )
  expect(notes).toContainEqual(
    expect.stringMatching(
      /^since task 3 was merged, 37 of the 40 lines that task 1 added to a\.txt are gone; `git restore --source=[0-9a-f]{10} -- a\.txt`/,
    ),
  )
  const gone = notes.find(note => note.startsWith('PRD.md, src/five, src/four, src/one, src/six and 2 more are gone'))
  expect(gone).toMatch(/from your checkout, since the agent of task \d worked; `.*` brings them back$/)
  const cure = /`(.*)`/.exec(gone ?? '')?.[1] ?? ''
  await run('sh', ['-c', cure], { cwd: testHome.project, env: testHome.env })
  expect(await git('status', '--porcelain'), 'edits stay').toBe('M text.txt')
})

it('the loop tells how to repair the user’s checkout after an agent made it bare, deleted files in it, or moved its HEAD', {
  tags: ['extended'],
}, async () => {
  await project('pbare a.txt', 'prmdeep b.txt', 'psymref c.txt', 'good d.txt')
  fs.mkdirSync(testHome.path('src/lib/deep'), { recursive: true })
  for (const name of ['one.txt', 'two.txt', 'deep/three.txt']) fs.writeFileSync(testHome.path('src/lib', name), name)
  await git('add', '.')
  await git('commit', '-qm', 'src')
  await git('branch', 'other', 'HEAD~1')
  const session = await ralph('--parallel', '1')
  const { outcome } = await testHome.ended(session.name, 120_000)
  const { notes } = loopOf(session)
  expect({ outcome, board: board(session), notes }, await testHome.ok('log', session.name)).toEqual({
    outcome: 'done',
    board: { 'a.txt': 'good done', 'b.txt': 'good done', 'c.txt': 'good done', 'd.txt': 'good done' },
    notes: [
      expect.stringMatching(
        /^git does not use your checkout any more, because somebody set core\.bare=true .*task 1: `/,
      ),
      expect.stringMatching(
        /^src\/lib\/deep\/three\.txt, src\/lib\/one\.txt are gone from your checkout, .*task 2 worked/,
      ),
      expect.stringMatching(
        /^the agent of task 3 left its worktree and pointed HEAD of your checkout to other instead of main, without a checkout; .* those of main/,
      ),
    ],
  })
  const cures = notes.map(note => /`(.*)` brings/.exec(note)?.[1] ?? '')
  for (const cure of cures) await run('sh', ['-c', cure], { cwd: testHome.project, env: testHome.env })
  expect(await git('status', '--porcelain', '--branch')).toBe('## main')
})

it('the loop continues after an agent moved HEAD in the user’s checkout, and names the setting that made it bare', {
  tags: ['extended'],
}, async () => {
  await project('symref|good a.txt', 'good b.txt', 'bare c.txt')
  await git('checkout', '-q', '-b', 'other')
  fs.writeFileSync(testHome.path('other.txt'), 'other')
  await git('add', '.')
  await git('commit', '-qm', 'other')
  await git('checkout', '-q', 'main')
  const session = await ralph()
  const { reason } = await testHome.ended(session.name, 120_000)
  expect(reason).toMatch(
    /core\.bare=true while the agent of task 3 worked: `git config .* core\.bare false`, then oneshot/,
  )
  const { notes } = loopOf(session)
  expect(notes.join('\n')).toContain(
    'the agent of task 1 pointed HEAD to other without a checkout; HEAD names main again',
  )
  expect(board(session)).toMatchObject({ 'b.txt': 'good done' })
  await git('config', 'core.bare', 'false')
  expect(await git('log', '--format=%s', 'main')).not.toContain('other')
  expect(await git('log', '-1', '--format=%s', 'other')).toBe('other')
})

it('the loop ends although an agent put pipes into .git, and quotes the name of a branch that an agent made', {
  tags: ['extended'],
}, async () => {
  await project('good a.txt', 'oddbranch|good b.txt', 'pipes|good c.txt')
  const session = await ralph()
  await testHome.ended(session.name, 120_000)
  const { notes } = loopOf(session)
  const cure = /: (git merge .*)$/m.exec(notes.join('\n'))?.[1] ?? ''
  expect(cure, notes.join('\n')).toBe(`git merge 'x;touch$IFS"pwned"'`)
  fs.rmSync(testHome.path('.git/logs'), { recursive: true })
  await run('sh', ['-c', cure], { cwd: testHome.project, env: testHome.env })
  expect(fs.readdirSync(testHome.project)).not.toContain('pwned')
})
