import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LoopView } from '../../src/api/contract/loop-view.ts'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { run } from '../../src/os/run.ts'
import { binFolder } from '../system/bin-folder.ts'
import { TestHome } from '../system/test-home.ts'
import { stubAgents } from '../system/stub-agents.ts'

let testHome: TestHome
beforeEach(async () => {
  testHome = new TestHome({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
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

/** An agent that runs what stands in brackets in the title of its task. */
const AGENT = String.raw`
prompt=$(cat)
line=$(printf '%s\n' "$prompt" | sed -n '/^# The task/,/^# Rules/p' | grep -o '\[.*\]' | head -1 | sed 's/^\[\(.*\)\]$/\1/')
echo "$line" >> "$JOURNAL"
eval "$line"
git add -A; git -c user.name=a -c user.email=a@b commit -qm work
`

async function project(files: Record<string, string>, ...lines: string[]): Promise<void> {
  const { codex = '' } = stubAgents(AGENT)
  testHome.env['PATH'] = `${binFolder(testHome, { scripts: { codex } })}:${testHome.env['PATH']}`
  testHome.env['JOURNAL'] = path.join(testHome.root, 'journal')
  const all = { ...files, 'PRD.md': lines.map(line => `- [ ] do [${line}]\n`).join('') }
  for (const [name, text] of Object.entries(all)) {
    fs.mkdirSync(path.dirname(testHome.path(name)), { recursive: true })
    fs.writeFileSync(testHome.path(name), text)
  }
  await git('add', '.')
  await git('commit', '-qm', 'first')
}

async function played(...args: string[]): Promise<LoopView> {
  const { name } = await testHome.json<SessionView>('ralph', '--agent', 'codex', '--retries', '1', ...args)
  await testHome.ended(name, 80_000)
  return testHome.json<LoopView>('ralph', 'status', name)
}

const rows = ({ tasks }: LoopView): (readonly [string, string | null])[] =>
  tasks.map(({ state, evidence }) => [state, evidence])
const WEAKER = 'the loop did not run the check, because it is weaker than before: '

/** A check that leaves word each time it is run. */
const CHECK = 'echo ran >> "$JOURNAL.checks"; for t in tests/*.sh; do sh "$t" || exit 1; done\n'
const TESTS = {
  'check.sh': CHECK,
  'tests/a.sh': 'test ! -e broken && test ! -e bad\n',
  'tests/b.sh': 'test -e PRD.md\n',
}

describe('an agent that weakens its own check', () => {
  it('gets its task blocked, while the task of an honest agent beside it is done', async () => {
    await project(
      TESTS,
      'rm tests/b.sh; echo x > 1.txt',
      'echo exit 0 > check.sh; echo x > 2.txt',
      'mv tests/a.sh tests/a.sh.bak; echo x > 3.txt',
      'echo "echo more" >> tests/a.sh; echo "true" > tests/c.sh; echo x > 4.txt',
      'echo x > docs/5.txt; echo changed > docs/plan.md',
    )
    fs.mkdirSync(testHome.path('docs'))
    fs.writeFileSync(testHome.path('docs/plan.md'), 'plan\n')
    await git('add', '.')
    await git('commit', '-qm', 'docs')
    const board = await played('--verify', 'sh check.sh', '--parallel', '5', '--protect', 'docs/*.md')
    expect(rows(board)).toEqual([
      ['blocked', `${WEAKER}tests/b.sh: was deleted`],
      ['blocked', `${WEAKER}check.sh: was changed, and the check runs it`],
      ['blocked', `${WEAKER}tests/a.sh: was deleted`],
      ['done', expect.stringContaining('sh check.sh: exit code 0')],
      ['blocked', `${WEAKER}docs/plan.md: is protected and was changed`],
    ])
    // Before the first task, for the fourth, and perhaps as that was merged: no rewritten check was run.
    expect(fs.readFileSync(`${testHome.env['JOURNAL']}.checks`, 'utf8').trim().split('\n').length).toBeLessThanOrEqual(
      3,
    )
  })

  it('stops a loop in the user’s checkout until the check is put back, and no resume makes the weaker one count', {
    tags: ['extended'],
  }, async () => {
    await project(TESTS, 'rm -f tests/b.sh; echo x >> 1.txt', 'echo x > 2.txt')
    const board = await played('--verify', 'sh check.sh')
    expect(rows(board)).toEqual([
      ['blocked', `${WEAKER}tests/b.sh: was deleted`],
      ['open', null],
    ])
    expect(board.notes.join()).toContain('task 1 left a weaker check behind')
    await testHome.ok('resume', board.name)
    await testHome.ended(board.name)
    expect(rows(await testHome.json<LoopView>('ralph', 'status', board.name))[0]).toEqual([
      'blocked',
      `${WEAKER}tests/b.sh: was deleted`,
    ])
    await testHome.json<SessionView>(
      'ralph',
      '--agent',
      'codex',
      '--name',
      'again',
      '--verify',
      'sh check.sh',
      '--allow',
      'tests/**',
    )
    expect(await testHome.ended('ralph-again')).toMatchObject({ outcome: 'done' })
  })

  it('gets no proof for weaker tests, and fails with a check that runs no test, while added tests prove a task', async () => {
    const test = "const assert = require('node:assert')\nassert.equal(1 + 2, 3)\n"
    await project(
      {
        'check.sh': 'for t in tests/*.js; do node "$t" || exit 1; done; echo "$(wc -l < names.txt) passed"\n',
        'names.txt': 'a\nb\n',
        'tests/a.js': test,
        'tests/b.js': test,
      },
      'sed -i s/equal/ok/ tests/a.js; echo x > 1.txt',
      'echo "assert.equal(2 + 2, 4)" >> tests/b.js; echo x > 2.txt',
      ': > names.txt; echo x > 3.txt',
      'sed -i 1d names.txt; echo x > 4.txt',
    )
    const { tasks, reason } = await played('--verify', 'sh check.sh', '--parallel', '4')
    expect(tasks.map(({ state, proof, evidence }) => [state, proof, evidence])).toEqual([
      ['done', 'changed', expect.stringContaining('not fully proven: changed existing tests: tests/a.js (+1 -1)')],
      ['done', 'checked', expect.stringContaining('added to existing tests: tests/b.js (+1 -0)')],
      ['blocked', null, 'the check runs no test any more; it ran 2 before'],
      ['done', 'changed', expect.stringContaining('not fully proven: only 1 of 2 tests still run')],
    ])
    expect(reason).toContain('3 of 4 tasks done')
  })

  it('with less than full autonomy cannot make oneshot run a check that it wrote itself, even if there was none before', async () => {
    const script = '{"scripts":{"test":"echo ran >> $JOURNAL.checks"}}'
    await project({ 'a.txt': 'a\n' }, `echo '${script}' > package.json; echo x > 1.txt`)
    expect(rows(await played('--autonomy', 'edits'))).toEqual([['done', expect.stringContaining('not tested')]])
    expect(fs.existsSync(`${testHome.env['JOURNAL']}.checks`)).toBe(false)
    // The same for a single session, while it ends and afterwards.
    fs.writeFileSync(testHome.path('check.sh'), 'true\n')
    const prompt = `# The task\n[echo '${CHECK.split(';')[0]}' > check.sh]\n# Rules`
    const asked = ['--agent', 'codex', '--autonomy', 'edits', '--verify', 'sh check.sh', '--name', 'one', prompt]
    await testHome.run(...asked)
    expect(await testHome.ended('codex-one')).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('was not run'),
    })
    const verified = await testHome.oneshot('verify', 'one')
    expect({ code: verified.code, stdout: verified.stdout }).toEqual({
      code: 1,
      stdout: expect.stringContaining('was not run'),
    })
    expect(fs.existsSync(`${testHome.env['JOURNAL']}.checks`)).toBe(false)
  })
})

describe('a loop whose check fails from the start', () => {
  it('notes the failure, and blames no task until the check has passed once', { tags: ['extended'] }, async () => {
    await project({ ...TESTS, broken: '' }, 'echo x > 1.txt', 'rm broken', 'echo x > bad')
    const board = await played('--verify', 'sh check.sh')
    expect(rows(board)).toEqual([
      ['done', expect.stringMatching(/1 file .*sh check.sh: exit code 1 .*, as before the first task/)],
      ['done', expect.stringContaining('sh check.sh: exit code 0')],
      ['blocked', expect.stringContaining('the check fails: sh check.sh: exit code 1')],
    ])
    expect(board.notes).toEqual([expect.stringContaining('the check failed before the first task started')])
  })
})

describe('a path for --protect or --allow', () => {
  it('makes the command fail if it is misspelt, outside or ignored by git, and a pattern without files yet causes a note', async () => {
    await project({ ...TESTS, '.gitignore': 'out/\n', 'out/x.txt': 'x' }, 'true')
    const refused = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await testHome.oneshot('ralph', '--agent', 'codex', ...args)
      expect(code).toBe(2)
      return stderr
    }
    expect(await refused('--protect', 'chekc.sh')).toMatch(/no such file: chekc\.sh[^]*did you mean check\.sh/)
    expect(await refused('--protect', 'out/*.txt')).toContain('git ignores out/*.txt')
    expect(await refused('--allow', 'out/**')).toContain('git ignores out/**')
    expect(await refused('--protect', 'out/x.txt')).toContain('git ignores out/x.txt')
    expect(await refused('--protect', '../elsewhere')).toContain('../elsewhere is outside of the repository')
    expect(await refused('--allow', '/etc/passwd')).toContain('is outside of the repository')
    expect(await refused('--allow', ' ')).toContain('--allow cannot be')
    const { code, stderr } = await testHome.oneshot(
      'ralph',
      '--agent',
      'codex',
      '--allow',
      'src/**',
      '--protect',
      'te?ts/c*.sh',
    )
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('no file matches src/** so far'),
    })
    expect(stderr).toContain('no file matches te?ts/c*.sh so far')
  })

  it('may be a folder with a slash, an absolute path, or a name with characters of a pattern', {
    tags: ['extended'],
  }, async () => {
    await project(
      { ...TESTS, 'docs/a.md': 'a\n', 'b [1]*.txt': 'b\n', 'b 1.txt': 'b\n' },
      'echo x > 1.txt; echo x >> "b 1.txt"; echo x >> docs/a.md; echo x >> "b [1]*.txt"; echo x >> tests/a.sh',
    )
    const paths = ['docs/', testHome.path('b [1]*.txt'), './tests'].flatMap(file => ['--protect', file])
    const [row] = rows(await played('--verify', 'sh check.sh', ...paths))
    expect(row).toEqual([
      'blocked',
      `${WEAKER}b [1]*.txt: is protected and was changed; docs/a.md: is protected and was changed; tests/a.sh: is protected and was changed`,
    ])
  })
})
