import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TrackerContext } from '../../src/ports/tracker.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { installFakeBd, BeadsProject } from '../../testkit/tracker/beads-project.ts'
import { tempFolder } from '../../testkit/agents/temp-folder.ts'
import { InMemoryBeads, inMemoryTracker } from '../../testkit/in-memory/tracker.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { beadsTracker } from '../../src/world/tracker/beads-tracker.ts'
import { homeAt } from '../../src/state/home.ts'
import { readParentPid } from '../../src/os/process/processes.ts'
import { testTracker, type TrackerFixture } from './tracker-contract.ts'

const never = new AbortController().signal

testTracker('in memory', () => {
  const beads = new InMemoryBeads()
  beads.root = '/project'
  const { closed } = beads
  return {
    tracker: inMemoryTracker(beads),
    place: { cwd: '/project', env: {} },
    create: title => {
      const id = `bd-${beads.issues.length + 1}`
      beads.issues.push({ id, title, state: 'open' })
      return id
    },
    set: (id, state) => beads.set(id, state),
    state: id => beads.state(id),
    closed: () => closed,
    close: () => undefined,
  }
})

for (const manners of ['old', 'noop', 'new', 'new bare', 'latest', 'latest errors-on-stderr'])
  testTracker(`beads, ${manners}`, () => openBench(fs.mkdtempSync(path.join(os.tmpdir(), 'os-bd-')), manners))

function openBench(folder: string, manners: string): TrackerFixture & { project: BeadsProject; home: string } {
  const cwd = path.join(folder, 'project')
  const project = new BeadsProject(cwd)
  const home = path.join(folder, 'home')
  for (const id of ['s1', 's2']) fs.mkdirSync(path.join(home, 'sessions', id), { recursive: true })
  const states = { open: 'open', in_progress: 'doing', closed: 'done' } as const
  return {
    home,
    project,
    tracker: beadsTracker(homeAt(home)),
    place: { cwd, env: { PATH: `${installFakeBd(folder)}:/usr/bin:/bin`, BD_STANDIN: manners } },
    create: title => project.create(title),
    set: (id, state) => project.set(id, state),
    state: id => states[project.status(id) as keyof typeof states],
    closed: () => project.lines('closed'),
    close: () => fs.rmSync(folder, { recursive: true, force: true }),
  }
}

describe('the beads tracker', () => {
  const open = (manners: string) => openBench(tempFolder(), manners)

  test('asks bd once for its abilities, and again after somebody installs another bd', async () => {
    const { tracker, place, project } = open('new')
    for (let n = 0; n < 3; n++) await tracker.sync(place, never)
    const asked = () => project.calls().filter(words => words.includes('--help') || words[0] === 'version')
    expect(asked()).toEqual([['version'], ['sync', '--help']])
    const program = path.join(place.env['PATH']?.split(':')[0] ?? '', 'bd')
    fs.utimesSync(program, 1, 1)
    await tracker.version(place, never)
    expect(asked()).toHaveLength(4)
  })

  test('makes bd up to 0.49 export its issues without a change to the user’s branch', async () => {
    const { tracker, place, project } = open('old')
    project.create('write tests')
    await tracker.sync(place, never)
    expect(project.lines('issues.jsonl')).toEqual([expect.stringContaining('write tests')])
    expect(project.lines('git-touched')).toEqual([])
  })

  test('lets bd from 0.51 on save by itself, and never makes it push to a remote', async () => {
    for (const manners of ['noop', 'new', 'latest']) {
      const { tracker, place, project } = open(manners)
      project.create('write tests')
      project.put('remote')
      await tracker.sync(place, never)
      expect(project.calls().filter(words => words[0] !== 'version' && !words.includes('--help'))).toEqual([])
      expect(project.lines('remote')).toEqual([])
    }
  })

  test.each([
    ['failing', 'exit code 1: database is locked'],
    ['failing bare', 'exit code 1: database is locked'],
    ['failing errors-on-stderr', 'exit code 1: '],
    ['garbage', 'its answer is not JSON'],
    ['flooding', 'it was killed by SIGKILL'],
    ['killed', 'it was killed by SIGKILL'],
  ])('reports trouble of bd in a sentence: %s', async (manners, words) => {
    const { tracker, place } = open(`new ${manners}`)
    await expect(tracker.readyIssues(place, never)).rejects.toThrow(words)
  })

  test('ends a hanging bd with all its processes when somebody aborts the request', async () => {
    const { tracker, place, project } = open('new hanging')
    const ending = new AbortController()
    const asked = tracker.readyIssues(place, ending.signal)
    await waitUntil('it hangs', () => project.lines('waiting').length > 0)
    ending.abort()
    await expect(asked).rejects.toThrow('it took too long')
    await waitUntil('it is gone', () => readParentPid(Number(project.lines('waiting')[0])) === undefined)
  })

  test('looks for bd only on the PATH of the session', async () => {
    const { tracker, place } = open('new')
    const elsewhere: TrackerContext = { ...place, env: { PATH: '/nowhere' } }
    await expect(tracker.version(elsewhere, never)).rejects.toThrow('it is not on the PATH of the session')
    expect(tracker.findRoot(elsewhere)).toBe(place.cwd)
  })

  test('leaves out issues without a valid id', async () => {
    const { tracker, place, project } = open('new')
    project.put(
      'stand-in.json',
      JSON.stringify([
        { id: '--force', title: 'x', status: 'open' },
        { id: 'bd-1', title: '\u001b[31mred\u001b[0m\nalert', status: 'open' },
        { title: 'no id', status: 'open' },
      ]),
    )
    expect(await tracker.readyIssues(place, never)).toEqual([{ id: 'bd-1', title: 'red alert', state: 'open' }])
  })

  test('finds .beads in a folder above, up to the top of the repository', () => {
    const { tracker, place } = open('new')
    const at = (...names: string[]) => ({ ...place, cwd: path.join(place.cwd, ...names) })
    fs.mkdirSync(at('a', 'b').cwd, { recursive: true })
    expect(tracker.findRoot(at('a', 'b'))).toBeNull()
    fs.mkdirSync(at('.git').cwd)
    expect(tracker.findRoot(at('a', 'b'))).toBe(place.cwd)
    fs.mkdirSync(at('a', '.git').cwd)
    expect(tracker.findRoot(at('a', 'b'))).toBeNull()
    expect(tracker.findRoot({ ...place, cwd: '/nowhere/at/all' })).toBeNull()
  })

  test('saves its snapshot in a private file, with a hash that changes with the issues', () => {
    const { tracker, home } = open('new')
    const issues = [
      { id: 'bd-1', title: 'one', state: 'open' as const },
      { id: 'bd-2', title: 'two', state: 'doing' as const },
    ]
    const hash = (ready: typeof issues): string => {
      tracker.saveSnapshot(testSessionId('s1'), { version: '1.0.5', at: 1, ready, settled: [] })
      return tracker.loadSnapshot(testSessionId('s1'))?.hash ?? ''
    }
    expect(hash(issues.toReversed())).toBe(hash(issues))
    expect(hash(issues.slice(1))).not.toBe(hash(issues))
    const file = path.join(home, 'sessions', 's1', 'tracker.json')
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    expect(fs.readdirSync(path.dirname(file))).toEqual(['tracker.json'])
    fs.writeFileSync(file, '{"kind":"bea')
    expect(tracker.loadSnapshot(testSessionId('s1'))).toBeNull()
  })
})
