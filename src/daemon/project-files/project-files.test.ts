import { testSessionId } from '../../../testkit/core/ids.ts'
import { withAttempt } from '../../core/session/attempt.ts'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSession } from '../../core/session/create.ts'
import type { Event } from '../../core/session/events.ts'
import type { Session } from '../../core/session/session-state.ts'
import { DEFAULT_TIMINGS } from '../../core/session/supervisor-timings.ts'
import { makeDecision } from '../../core/session/decision.ts'
import { scriptedAgents } from '../../../testkit/in-memory/scripted-agents.ts'
import { makeSpec, type SpecOverrides } from '../../../testkit/in-memory/simulation.ts'
import { VirtualClock } from '../../../testkit/in-memory/virtual-clock.ts'
import { type TempHome, tempHome } from '../../../testkit/system/temp-home.ts'
import { waitUntil } from '../../../testkit/system/wait-until.ts'
import { attemptFolder, sessionFolder } from '../../state/session-folder.ts'
import { openStore, type SqliteStore } from '../../world/store/sqlite-store.ts'
import { ProjectFiles } from './project-files.ts'

let temp: TempHome
let store: SqliteStore
let clock: VirtualClock
let project: string
let projectFiles: ProjectFiles
let said: string[]
const killed: ProjectFiles[] = []
beforeEach(async () => {
  temp = tempHome('home')
  project = path.join(path.dirname(temp.home.root), 'project')
  fs.mkdirSync(project)
  store = openStore(temp.home.database)
  clock = new VirtualClock()
  said = []
  projectFiles = createProjectFiles()
  await projectFiles.start()
})
afterEach(async () => {
  for (const each of [projectFiles, ...killed.splice(0)]) await each.close()
  store.close()
  await temp.assertNoLeaks()
})

/**
 * Simulates the kill of a supervisor, whose clock then stops, and the start of another one after `away` milliseconds.
 */
function kill(away = 1_000): void {
  killed.push(projectFiles)
  clock = new VirtualClock(clock.now() + away)
  projectFiles = createProjectFiles()
}

function createProjectFiles(): ProjectFiles {
  const say = (sentence: string): void => void said.push(sentence)
  const environment = (): Record<string, string> => ({ MY_TOKEN: 'let-me-in-please' })
  const onTrouble = (): void => undefined
  const shared = { home: temp.home, store, clock, agents: scriptedAgents(), timings: DEFAULT_TIMINGS }
  return new ProjectFiles({ ...shared, environment, log: say, onTrouble })
}

/** Records and reports in the order of the engine. */
function record(session: Session, ...events: Event[]): Session {
  store.record(makeDecision(session, events))
  for (const event of events) projectFiles.addEvent(session, event)
  projectFiles.update(session)
  return session
}

function begin(overrides: SpecOverrides = {}): Session {
  const id = overrides.id ?? 'aaaaaaaaaa'
  const spec = makeSpec({ agent: 'mute', id, cwd: project, createdAt: clock.now(), ...overrides })
  fs.mkdirSync(attemptFolder(temp.home, testSessionId(id), 1).root, { recursive: true })
  const { session, events } = createSession(spec, { hasPrompt: false })
  return record(session, ...events)
}

const running = (session: Session): Session => record({ ...session, phase: { name: 'running', since: clock.now() } })
function ended(session: Session): Session {
  const end = { at: clock.now(), outcome: 'done', reason: 'exit code 0' } as const
  return record({ ...session, phase: { name: 'ended', trouble: null, ...end } }, { type: 'session.ended', ...end })
}

const at = (...names: string[]): string => path.join(project, '.agent', ...names)
const read = (...names: string[]): string => (fs.existsSync(at(...names)) ? fs.readFileSync(at(...names), 'utf8') : '')
const says = (words: string, ...names: string[]): Promise<void> =>
  waitUntil(`${names.join('/')} says ${words}`, async () => {
    await clock.advance(10)
    return read(...names).includes(words)
  })
const beats = (): string[] => read('HEARTBEAT').split('\n').slice(0, -1)

test('the writer writes pages at most once a second, and at once for an end', async () => {
  const session = begin()
  await says('# ◌ starting', 'STATUS.md')
  running(session)
  await clock.advance(500)
  expect(read('STATUS.md')).toContain('# ◌ starting')
  await says('# ● running', 'STATUS.md')
  ended(session)
  await clock.advance(150)
  await says('# ✔ done mute-task: exit code 0', 'STATUS.md')
  expect(beats().map(line => line.split(';')[0]?.split(' ')[1])).toEqual(['starting', 'running', 'done'])
})

test('the writer adds a heartbeat every 30 s, explains gaps, and keeps at most an hour of heartbeats', async () => {
  running(begin())
  await says('running', 'HEARTBEAT')
  const first = beats().length
  for (let beat = 1; beat <= 3; beat++) {
    await clock.advance(30_000)
    await waitUntil('there is another', () => beats().length === first + beat)
  }
  clock.suspend(720_000)
  await clock.advance(1)
  await waitUntil('there is another', () => beats().length === first + 4)
  expect(beats().at(-1)).toContain('; after 12 min without a heartbeat: the machine was asleep; no process; no output;')
  for (let beat = 0; beat < 130; beat++) {
    const last = beats().at(-1)
    await clock.advance(30_000)
    await waitUntil('there is another', () => beats().at(-1) !== last)
    expect(beats().length).toBeLessThanOrEqual(120)
  }
  expect(beats().length).toBeGreaterThanOrEqual(100)
  expect(beats().every((line, i, all) => i === 0 || line > (all[i - 1] as string))).toBe(true)
})

test('a new supervisor records how long no supervisor was running, and continues the log', async () => {
  const session = running(begin())
  fs.writeFileSync(attemptFolder(temp.home, session.spec.id, 1).stdout, 'one\n')
  await says('running', 'HEARTBEAT')
  await says('one', 'session.log')
  kill(90_000)
  fs.appendFileSync(attemptFolder(temp.home, session.spec.id, 1).stdout, 'two let-me-in-please\n')
  await projectFiles.start()
  await says('without a heartbeat: no supervisor was running;', 'HEARTBEAT')
  await says('two', 'session.log')
  expect(read('session.log')).toBe('one\ntwo ****************\n')
})

test('a new supervisor writes an end that the last one did not write, leaves a written end unchanged, and ignores sessions without files', async () => {
  const session = running(begin())
  await says('# ● running', 'STATUS.md')
  kill()
  const old = createSession(makeSpec({ agent: 'mute', id: 'oooooooooo', name: 'mute-old', cwd: project }), {
    hasPrompt: false,
  }).session
  const end = { name: 'ended', at: clock.now(), outcome: 'done', reason: 'exit code 0', trouble: null } as const
  for (const { spec } of [session, old]) store.record(makeDecision({ ...session, spec, phase: end }, []))
  await projectFiles.start()
  await says('# ✔ done', 'STATUS.md')
  await waitUntil('it is noted', () =>
    fs.readFileSync(sessionFolder(temp.home, session.spec.id).project, 'utf8').includes(`"endedAt":${end.at}`),
  )
  fs.writeFileSync(at('mute-task', 'STATUS.md'), 'as it is')
  kill()
  await projectFiles.start()
  await clock.advance(60_000)
  expect(read('STATUS.md')).toBe('as it is')
  expect(fs.existsSync(at('mute-old'))).toBe(false)
})

test('the links at the top lead to the session that started or woke last, and after its removal to the next one', async () => {
  const one = running(begin({ id: 'aaaaaaaaaa', name: 'mute-one' }))
  await says('mute-one', 'STATUS.md')
  await clock.advance(1_000)
  const two = ended(begin({ id: 'bbbbbbbbbb', name: 'mute-two' }))
  await says('✔ done mute-two', 'STATUS.md')
  await says('# ● running mute-one', 'mute-one', 'STATUS.md')
  expect(fs.readlinkSync(at('session.log'))).toBe('mute-two/session.log')
  record(one, { at: clock.now(), type: 'session.woken' })
  await says('mute-one', 'STATUS.md')
  await projectFiles.remove(one)
  store.remove(one.spec.id)
  expect(fs.readlinkSync(at('STATUS.md'))).toBe('mute-two/STATUS.md')
  expect(fs.existsSync(at('mute-one'))).toBe(false)
  await projectFiles.remove(two)
  expect(fs.existsSync(at())).toBe(false)
})

test('removed sessions are forgotten once they no longer exist', async () => {
  const sessions = ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc'].map(id => ended(begin({ id, name: `mute-${id}` })))
  const looked: string[] = []
  const load = store.load.bind(store)
  store.load = id => {
    looked.push(id)
    return load(id)
  }
  for (const session of sessions) {
    looked.length = 0
    await projectFiles.remove(session)
    store.remove(session.spec.id)
  }
  expect(looked).toContain('bbbbbbbbbb')
  expect(looked).not.toContain('aaaaaaaaaa')
})

test('of two sessions with one name, the later one owns the folder', async () => {
  const first = ended(begin({ id: 'aaaaaaaaaa' }))
  await says('# ✔ done', 'STATUS.md')
  await clock.advance(5_000)
  running(begin({ id: 'bbbbbbbbbb' }))
  await says('# ● running', 'STATUS.md')
  expect(fs.readFileSync(at('mute-task', '.session'), 'utf8')).toBe('bbbbbbbbbb')
  record(first, { at: clock.now(), type: 'session.noted', note: 'late' })
  await clock.advance(60_000)
  expect(read('STATUS.md')).toContain('# ● running')
  await projectFiles.remove(first)
  expect(read('STATUS.md')).toContain('# ● running')
})

test('the writer reports a project that it cannot write to once, and writes within half a minute after that has changed', async () => {
  fs.rmdirSync(project)
  const session = running(begin())
  for (let turn = 0; turn < 5; turn++) await clock.advance(30_000)
  await waitUntil('it is noted', () => said.length > 0)
  expect(said).toEqual([expect.stringMatching(/^mute-task cannot write its files in .*project: ENOENT/)])
  fs.mkdirSync(project)
  running(session)
  await clock.advance(30_000)
  await says('# ● running', 'STATUS.md')
})

test('the writer restores removed files, and writes none for a session with project files switched off', async () => {
  const session = running(begin())
  begin({ id: 'bbbbbbbbbb', name: 'mute-secret', supervision: { projectFiles: false } })
  await says('# ● running', 'STATUS.md')
  fs.rmSync(at(), { recursive: true })
  running(withAttempt(session, { number: 2 }))
  await says('attempt: 2', 'STATUS.md')
  await waitUntil('all of it is back', () => fs.readdirSync(at('mute-task')).length === 8)
  expect(fs.existsSync(at('mute-secret'))).toBe(false)
})

test('the next heartbeat updates the pages with the task tracker’s news and the time of the change', async () => {
  const session = running(begin())
  await says('# ● running', 'STATUS.md')
  const first = /changed: (.*)/.exec(read('LAST_STATE.md'))?.[1] ?? ''
  await clock.advance(2_000)
  const ready = [{ id: 'bd-1', title: 'deploy it', state: 'open' }]
  const said = { kind: 'beads', version: '1.3.0', at: clock.now(), hash: 'abc', ready }
  fs.writeFileSync(sessionFolder(temp.home, session.spec.id).tracker, JSON.stringify(said))
  await clock.advance(30_000)
  await says('| bd-1 | open | deploy it |', 'LAST_STATE.md')
  const second = /changed: (.*)/.exec(read('LAST_STATE.md'))?.[1] ?? ''
  expect(second > first).toBe(true)
  const tasks = [{ id: '1', title: 'test it', state: 'open', source: 'user' }] as const
  record({ ...session, tasks })
  await says('| 1 | open | test it | user |', 'LAST_STATE.md')
})

test('close writes the pending changes, and nothing after that', async () => {
  const session = running(begin())
  fs.writeFileSync(attemptFolder(temp.home, session.spec.id, 1).stdout, 'last words\n')
  await projectFiles.close()
  expect(read('STATUS.md')).toContain('# ● running')
  expect(read('session.log')).toBe('last words\n')
  ended(session)
  await clock.advance(60_000)
  expect(read('STATUS.md')).toContain('# ● running')
})

test('the next supervisor writes an end that the last one could not write for a long time', async () => {
  const session = running(begin())
  await says('# ● running', 'STATUS.md')
  fs.renameSync(project, `${project}.away`) // No write succeeds now, as on a full disk.
  ended(session)
  let beats = 0
  await waitUntil('it was tried often enough', async () => {
    await clock.advance(30_000)
    return ++beats > 40
  })
  fs.renameSync(`${project}.away`, project)
  kill()
  await projectFiles.start()
  await says('# ✔ done mute-task', 'STATUS.md')
})

test('the writer reports a link in place of the folder once, and reports trouble within the folder by file names', async () => {
  fs.symlinkSync(path.dirname(project), at())
  const session = running(begin())
  for (let turn = 0; turn < 3; turn++) await clock.advance(30_000)
  await waitUntil('it is told', () => said.length > 0)
  expect(said).toEqual([
    `mute-task cannot write its files in ${project}: .agent is a file or a link, and is left alone`,
  ])
  fs.rmSync(at())
  await clock.advance(30_000) // The next heartbeat.
  await says('# ● running', 'STATUS.md')
  const page = fs.realpathSync(at('STATUS.md'))
  fs.rmSync(page)
  fs.mkdirSync(page)
  fs.writeFileSync(path.join(page, 'mine.txt'), 'mine')
  ended(session)
  await waitUntil('it is told', async () => {
    await clock.advance(30_000)
    return said.length > 1
  })
  const [, aside = ''] = /STATUS\.md; oneshot renamed it to (STATUS\.md\.aside-\w+)/.exec(said[1] ?? '') ?? []
  expect(fs.readFileSync(at(session.spec.name, aside, 'mine.txt'), 'utf8')).toBe('mine')
  await says('# ✔ done mute-task', 'STATUS.md')
  expect(said[1]).not.toContain('/proc/')
})
