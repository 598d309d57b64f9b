import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TaskSource } from '../../src/ports/task-source.ts'
import { installFakeBd } from '../../testkit/tracker/beads-project.ts'
import { put, tempFolder } from '../../testkit/agents/temp-folder.ts'
import { findTaskSource } from '../../src/world/task-list/find-source.ts'

const never = new AbortController().signal
const place = (cwd: string, env: Record<string, string> = {}) => ({ cwd, env: { PATH: '/usr/bin:/bin', ...env } })

async function tick(source: TaskSource, cwd: string, title: string, isDone = true): Promise<void> {
  const { items } = await source.read(cwd, never)
  const marks = items.filter(item => item.title === title).map(({ key }) => ({ key, isDone, reason: 'because' }))
  await source.mark(cwd, marks, never)
}

describe('a task list in a file', () => {
  const odd = Buffer.concat([
    Buffer.from('\ufeff# Plän\r\n- [ ] a \r\n\t- [ ] é '),
    Buffer.of(0xff, 0xc3),
    Buffer.from('\r- [X] b'),
  ])

  test('keeps every byte except the one in the box, and unmarking restores that one', async () => {
    const cwd = tempFolder()
    const file = put(path.join(cwd, 'PRD.md'), odd)
    const source = await findTaskSource(place(cwd), 'PRD.md')
    const { items } = await source.read(cwd, never)
    expect(items.map(({ title, path }) => [...path, title])).toEqual([
      ['Plän', 'a', 'é \ufffd\ufffd'],
      ['Plän', 'b'],
    ])
    await tick(source, cwd, 'é \ufffd\ufffd')
    expect(fs.readFileSync(file)).toEqual(Buffer.from(odd.toString('latin1').replaceAll('[ ]', '[x]'), 'latin1'))
    await tick(source, cwd, 'é \ufffd\ufffd', false)
    expect(fs.readFileSync(file)).toEqual(odd)
  })

  test('keeps its permissions and its place behind a link, and leaves no other file there', async () => {
    const cwd = tempFolder()
    const target = put(path.join(cwd, 'docs', 'plan.md'), '- [ ] a\n')
    fs.chmodSync(target, 0o664)
    fs.symlinkSync('docs/plan.md', path.join(cwd, 'PRD.md'))
    const source = await findTaskSource(place(cwd), null)
    expect(source).toMatchObject({ kind: 'markdown', file: 'PRD.md' })
    await tick(source, cwd, 'a')
    expect(fs.lstatSync(path.join(cwd, 'PRD.md')).isSymbolicLink()).toBe(true)
    expect(fs.readFileSync(target, 'utf8')).toBe('- [x] a\n')
    expect(fs.statSync(target).mode & 0o777).toBe(0o664)
    expect(fs.readdirSync(path.dirname(target))).toEqual(['plan.md'])
  })

  test('stays the same file if a mark changes nothing', async () => {
    const cwd = tempFolder()
    const file = put(path.join(cwd, 'PRD.md'), '- [x] a\n')
    const before = fs.statSync(file).ino
    const source = await findTaskSource(place(cwd), null)
    await tick(source, cwd, 'a')
    await source.mark(cwd, [{ key: 'gone', isDone: true, reason: '' }], never)
    expect(fs.statSync(file).ino).toBe(before)
  })

  test('can differ between checkouts, and the reader uses the given one', async () => {
    const [one, two] = [tempFolder(), tempFolder()]
    put(path.join(one, 'PRD.md'), '- [ ] a\n')
    put(path.join(two, 'PRD.md'), 'Words\n\n- [x] a\n')
    const source = await findTaskSource(place(one), null)
    const [[first], [second]] = [(await source.read(one, never)).items, (await source.read(two, never)).items]
    expect([first?.key, first?.isDone, second?.isDone]).toEqual([second?.key, false, true])
  })

  test('in YAML gets its mark in the same way and keeps its byte order mark', async () => {
    const cwd = tempFolder()
    const file = put(path.join(cwd, 'tasks.yaml'), '\ufeff- title: a\r\n- {title: b, done: true}\r\n')
    const source = await findTaskSource(place(cwd), null)
    expect(source).toMatchObject({ kind: 'yaml', file: 'tasks.yaml' })
    await tick(source, cwd, 'a')
    expect(fs.readFileSync(file, 'utf8')).toBe('\ufeff- title: a\r\n  completed: true\r\n- {title: b, done: true}\r\n')
  })

  test('without tasks, broken or missing causes a message that says so', async () => {
    const cwd = tempFolder()
    const file = put(path.join(cwd, 'TODO.md'), '# Nothing\n')
    const source = await findTaskSource(place(cwd), null)
    expect((await source.read(cwd, never)).objections).toEqual([
      'TODO.md has no boxes: write each task as a line “- [ ] what is to be done”',
    ])
    fs.rmSync(file)
    await expect(source.read(cwd, never)).rejects.toThrow('reading TODO.md: the file does not exist')
    put(path.join(cwd, 'tasks.yml'), '- title: "a\n')
    const broken = await findTaskSource(place(cwd), null)
    await expect(broken.read(cwd, never)).rejects.toThrow(/^reading tasks\.yml: line \d+, column \d+: /)
  })
})

describe('findTaskSource', () => {
  test('takes the first file with tasks, whatever else lies there', async () => {
    const cwd = tempFolder()
    put(path.join(cwd, 'PRD.md'), 'Words.\n')
    expect(await findTaskSource(place(cwd), null)).toMatchObject({ file: 'PRD.md' })
    put(path.join(cwd, 'tasks.yml'), '- title: a\n')
    expect(await findTaskSource(place(cwd), null)).toMatchObject({ file: 'tasks.yml' })
    put(path.join(cwd, 'todo.md'), '- [ ] a\n')
    expect(await findTaskSource(place(cwd), null)).toMatchObject({ file: 'todo.md' })
  })

  test('prefers beads to a file without tasks if bd exists and the user agrees or names it', async () => {
    const cwd = tempFolder()
    put(path.join(cwd, 'TODO.md'), 'Words.\n')
    fs.mkdirSync(path.join(cwd, '.beads'))
    const withBd = place(cwd, { PATH: installFakeBd(cwd) })
    const agreed = { beads: true }
    expect(await findTaskSource(withBd, null, agreed)).toMatchObject({ kind: 'beads', file: null })
    expect(await findTaskSource(withBd, 'beads')).toMatchObject({ kind: 'beads', file: null })
    expect(await findTaskSource(withBd, null)).toMatchObject({ kind: 'markdown', file: 'TODO.md' })
    expect(await findTaskSource(place(cwd), null, agreed)).toMatchObject({ kind: 'markdown', file: 'TODO.md' })
    fs.rmSync(path.join(cwd, 'TODO.md'))
    await expect(findTaskSource(withBd, null)).rejects.toThrow('bd is not run for .beads unless you say so')
  })

  test('recognizes a file of any name by its content', async () => {
    const cwd = tempFolder()
    const files = { plan: '- [ ] a\n', work: 'tasks:\n- title: a\n', 'a.json': '[{"title": "a"}]', other: ': :\n- "' }
    for (const [name, text] of Object.entries(files)) put(path.join(cwd, 'sub', name), text)
    const kinds = Object.keys(files).map(async name => (await findTaskSource(place(cwd), `sub/${name}`)).kind)
    expect(await Promise.all(kinds)).toEqual(['markdown', 'yaml', 'yaml', 'markdown'])
    expect((await findTaskSource(place(path.join(cwd, 'sub')), path.join(cwd, 'sub', 'plan'))).file).toBe('plan')
  })

  test('says what it looked for and what to do if there is no list', async () => {
    const cwd = tempFolder()
    await expect(findTaskSource(place(cwd), null)).rejects.toMatchObject({
      code: 'no-tasks',
      message: `there is no list of tasks in ${cwd}: no PRD, TASKS or TODO (.md, .yaml, .yml), and no .beads`,
      hint: expect.stringContaining('- [ ]'),
    })
    fs.mkdirSync(path.join(cwd, '.beads'))
    await expect(findTaskSource(place(cwd), null, { beads: true })).rejects.toThrow(
      'there is .beads, but no bd on the PATH',
    )
    await expect(findTaskSource(place(cwd), 'x.md')).rejects.toThrow(
      'cannot read tasks from x.md: there is no such file',
    )
    await expect(findTaskSource(place(cwd), '.beads')).rejects.toThrow('cannot read tasks from .beads: it is a folder')
  })
})

test('the task list reader reads the examples of docs/task-lists.md as the page says', async () => {
  const page = fs.readFileSync(path.join(import.meta.dirname, '../../docs/task-lists.md'), 'utf8')
  const [markdown = '', yaml = ''] = [...page.matchAll(/^```(?:markdown|yaml)\n([\s\S]*?)^```$/gm)].map(
    found => found[1] ?? '',
  )
  const cwd = tempFolder()
  put(path.join(cwd, 'a.md'), markdown)
  put(path.join(cwd, 'b.yaml'), yaml)
  const told = async (file: string) => {
    const { items, objections } = await (await findTaskSource(place(cwd), file)).read(cwd, never)
    const labels = new Map(items.map(({ key, label }) => [key, label]))
    expect(objections).toEqual([])
    return items.map(({ title, isDone, after }) => [title, isDone, after.map(key => labels.get(key)).join()])
  }
  expect(await told('a.md')).toEqual([
    ['Set up the database', false, ''],
    ['Sign up', true, ''],
    ['Log in', false, ''],
    ['Checkout (after 1, 3)', false, '1,3'],
  ])
  expect(await told('b.yaml')).toEqual([
    ['Set up the database', true, ''],
    ['Log in', false, '1'],
    ['Ship it', false, ''],
  ])
})
