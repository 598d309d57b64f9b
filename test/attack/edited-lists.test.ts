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
})
afterEach(() => testHome.close())

async function git(...args: string[]): Promise<void> {
  const { code, stderr } = await run('git', args, { cwd: testHome.project, env: testHome.env })
  expect({ code, stderr: code === 0 ? '' : stderr }, `git ${args.join(' ')}`).toEqual({ code: 0, stderr: '' })
}

/** An agent that works, and then does this to the list. */
async function project(list: string, agent: string): Promise<void> {
  const { codex = '' } = stubAgents(`cat > /dev/null\necho x >> work.txt\n${agent}\n`)
  testHome.env['PATH'] = `${binFolder(testHome, { scripts: { codex } })}:${testHome.env['PATH']}`
  testHome.env['COUNT'] = path.join(testHome.root, 'count')
  fs.writeFileSync(testHome.path('PRD.md'), list)
  await git('add', '.')
  await git('-c', 'user.name=n', '-c', 'user.email=e@x', 'commit', '-qm', 'first')
}

async function played(...args: string[]): Promise<LoopView> {
  const { name } = await testHome.json<SessionView>('ralph', '--agent', 'codex', '--no-verify', ...args)
  await testHome.ended(name, 60_000)
  return testHome.json<LoopView>('ralph', 'status', name)
}

const rows = ({ tasks }: LoopView): (readonly [string, string, string])[] =>
  tasks.map(({ id, title, state }) => [id, title, state])

describe('an agent that edits the task list', () => {
  it('cannot make the loop run for ever by adding a task each time', async () => {
    await project('- [ ] first\n', 'echo x >> "$COUNT"; echo "- [ ] again $(wc -l < "$COUNT")" >> PRD.md')
    const board = await played('--max-added', '2')
    expect(board).toMatchObject({
      outcome: 'failed',
      iterations: 3,
      reason: expect.stringMatching(
        /^3 of 4 tasks done; 1 task that an agent added is not started: a loop starts at most 2 of these/,
      ),
    })
    expect(board.tasks.map(({ id, addedBy, evidence }) => [id, addedBy, evidence])).toEqual([
      ['1', null, expect.any(String)],
      ['2', 'the agent of task 1', expect.stringContaining('(added by the agent of task 1)')],
      ['3', 'the agent of task 2', expect.stringContaining('(added by the agent of task 2)')],
      ['4', 'the agent of task 3', 'added by the agent of task 3'],
    ])
    expect(board.notes[0]).toBe('the agent of task 1 added task 2 to the list: again 1')
  })

  it('makes no new tasks by adding words to the lines of its own tasks, and the loop finishes these tasks', {
    tags: ['extended'],
  }, async () => {
    await project(
      '- [ ] parse\n- [ ] print\n',
      "sed -i -e '0,/\\[ \\] p[a-z]*$/s/\\[ \\] \\(p[a-z]*\\)$/[x] \\1 (done by me)/' PRD.md",
    )
    const board = await played()
    expect(rows(board)).toEqual([
      ['1', 'parse', 'done'],
      ['2', 'print', 'done'],
    ])
    expect(board).toMatchObject({ outcome: 'done', iterations: 2 })
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe(
      '- [x] parse (done by me)\n- [x] print (done by me)\n',
    )
  })

  it('cannot delete it: the loop writes the list again, with the boxes that were ticked', {
    tags: ['extended'],
  }, async () => {
    await project('- [ ] first\n- [ ] second\n', 'rm -f PRD.md')
    const board = await played()
    expect(rows(board)).toEqual([
      ['1', 'first', 'done'],
      ['2', 'second', 'done'],
    ])
    expect(board.notes).toEqual([
      'the agent of task 1 deleted PRD.md: it is back as it was',
      'the agent of task 2 deleted PRD.md: it is back as it was',
    ])
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe('- [x] first\n- [x] second\n')
  })

  it('cannot replace it by a text without tasks: the loop writes the list again, and keeps the text', async () => {
    await project('- [ ] first\n- [ ] second\n', 'echo see the wiki > PRD.md')
    const board = await played()
    expect(rows(board)).toEqual([
      ['1', 'first', 'done'],
      ['2', 'second', 'done'],
    ])
    const [note = ''] = board.notes
    expect(note).toMatch(
      /^the agent of task 1 left no task in PRD\.md: it is back as it was, and the agent’s text is in /,
    )
    expect(fs.readFileSync(note.replace(/.* is in /, ''), 'utf8')).toBe('see the wiki\n')
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe('- [x] first\n- [x] second\n')
  })

  it('cannot make the command that restores the list overwrite another file', { tags: ['extended'] }, async () => {
    const precious = path.join(testHome.root, 'precious.txt')
    fs.writeFileSync(precious, 'precious')
    testHome.env['PRECIOUS'] = precious
    const before = '- [ ] first\n- [ ] second\n'
    await project(before, 'ln -sf "$PRECIOUS" PRD.md')
    const { notes } = await played('--max-iterations', '1')
    const command = /^reading PRD\.md: it is a link .*; `(.*)` brings it back/m.exec(notes.join('\n'))?.[1] ?? 'false'
    expect((await run('sh', ['-c', command], { cwd: testHome.project, env: testHome.env })).code).toBe(0)
    expect(fs.readFileSync(precious, 'utf8')).toBe('precious')
    expect(fs.readFileSync(testHome.path('PRD.md'), 'utf8')).toBe(before)
  })
})
