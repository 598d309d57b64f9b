import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { markChecklist, readChecklist } from '../../src/core/loop/list/checklist.ts'
import { detectCheck } from '../../src/world/checks/detect-check.ts'
import { fileTaskSource } from '../../src/world/task-list/file-source.ts'
import { findTaskSource } from '../../src/world/task-list/find-source.ts'
import { attackSize } from './attack-size.ts'

/** Microseconds of CPU time, which other programs on the machine do not change. The square of these sizes takes minutes. */
const SOON = 5_000_000
const SIZE = attackSize(200_000, 1_000_000)

function folder(): string {
  const made = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'os-odd-')))
  onTestFinished(() => fs.rmSync(made, { recursive: true, force: true }))
  return made
}

function soon<T>(deed: () => T): T {
  const begun = process.cpuUsage()
  const result = deed()
  expect(process.cpuUsage(begun).user).toBeLessThan(SOON)
  return result
}

const LISTS: Readonly<Record<string, string>> = {
  'a comment that is begun again and again': '<!--'.repeat(SIZE / 4),
  'the same, behind words': `- [ ] a ${'<!--'.repeat(SIZE / 4)}`,
  'the same, line by line': '<!--\n'.repeat(SIZE / 5),
  'the same, line by line and behind words': 'a <!--\n'.repeat(SIZE / 7),
  'comments one after the other': `- [ ] a ${'<!---->'.repeat(SIZE / 7)}`,
  'runs of backticks, each longer than the last': `${Array.from({ length: Math.sqrt(SIZE) }, (_, at) => '`'.repeat(at + 1)).join(' ')}<!--`,
  'notes on the order, one in the other': `- [ ] a ${'(after "'.repeat(SIZE / 8)}`,
  'marks within a comment': `- [ ] a <!-- after: ${'“'.repeat(SIZE)} -->`,
}

test.each(Object.entries(LISTS))(
  'the checklist reader reads and marks a hostile list within the time limit: %s',
  (_, text) => {
    const list = `${text}\n\n- [ ] the last\n`
    const { items } = soon(() => readChecklist(list))
    const last = items.find(({ title }) => title === 'the last')
    expect(last).toBeDefined()
    const marks = [{ key: last?.key ?? '', isDone: true, reason: 'x' }]
    expect(soon(() => markChecklist(list, marks))).toBe(`${text}\n\n- [x] the last\n`)
  },
)

test.each([
  ['a ', false],
  ['a\ttest ', true],
  ['test ', true],
])('detectCheck reads a Makefile of one long line of %j within the time limit', (word, isTest) => {
  const project = folder()
  fs.writeFileSync(path.join(project, 'Makefile'), `${word.repeat(SIZE / word.length)}:\n`)
  expect(soon(() => detectCheck(project, process.env))?.line).toBe(isTest ? 'make test' : undefined)
})

test.each([
  ['test: a', true],
  ['all test: a', true],
  ['test :: a', true],
  ['.PHONY: test', false],
  ['test = a', false],
  ['test := a', false],
  ['test ::= a', false],
  ['\ttest: a', false],
  ['# test: a', false],
  ['tests: a', false],
])('detectCheck takes the line %j of a Makefile for a test target: %s', (line, isTest) => {
  const project = folder()
  fs.writeFileSync(path.join(project, 'Makefile'), `a = b\n${line}\n`)
  expect(detectCheck(project, process.env) !== null).toBe(isTest)
})

test('the readers of lists and build files refuse pipes, devices, folders and links out of the project at once', async () => {
  const project = folder()
  const { signal } = new AbortController()
  const outside = path.join(folder(), 'secret.md')
  fs.writeFileSync(outside, '- [ ] a secret\n')
  const list = path.join(project, 'PRD.md')
  const traps: readonly (readonly [RegExp, () => void])[] = [
    [/it is not a file/, () => execFileSync('mkfifo', [list])],
    [/leads out of the project/, () => fs.symlinkSync('/dev/zero', list)],
    [/leads out of the project/, () => fs.symlinkSync(outside, list)],
    [/it is a folder/, () => fs.mkdirSync(list)],
    [/it lies in \.git/, () => fs.symlinkSync('.git/config', list)],
    [/longer than 16 MB/, () => fs.closeSync(fs.openSync(list, 'w')) ?? fs.truncateSync(list, 2 ** 33)],
  ]
  fs.mkdirSync(path.join(project, '.git'))
  fs.writeFileSync(path.join(project, '.git', 'config'), '')
  for (const [why, set] of traps) {
    set()
    await expect(fileTaskSource('markdown', 'PRD.md').read(project, signal)).rejects.toThrow(why)
    await expect(fileTaskSource('markdown', 'PRD.md').mark(project, [], signal)).rejects.toThrow(why)
    await expect(findTaskSource({ cwd: project, env: {} }, 'PRD.md')).rejects.toThrow(why)
    fs.rmSync(list, { recursive: true })
  }
  for (const name of ['Makefile', 'package.json', 'pytest.ini']) execFileSync('mkfifo', [path.join(project, name)])
  expect(detectCheck(project, process.env)).toBeNull()
})

test('the list reader reads and marks a list through a link to another file of the project', async () => {
  const project = folder()
  const { signal } = new AbortController()
  fs.mkdirSync(path.join(project, 'docs'))
  fs.writeFileSync(path.join(project, 'docs', 'list.md'), '- [ ] a\n')
  fs.symlinkSync('docs/list.md', path.join(project, 'PRD.md'))
  const source = await findTaskSource({ cwd: project, env: {} }, 'PRD.md')
  const [item] = (await source.read(project, signal)).items
  await source.mark(project, [{ key: item?.key ?? '', isDone: true, reason: 'x' }], signal)
  expect(fs.readFileSync(path.join(project, 'docs', 'list.md'), 'utf8')).toBe('- [x] a\n')
  expect(fs.lstatSync(path.join(project, 'PRD.md')).isSymbolicLink()).toBe(true)
})
