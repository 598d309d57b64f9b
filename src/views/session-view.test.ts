import { testSessionId } from '../../testkit/core/ids.ts'
import { withAttempt, type ProcessIdentity } from '../core/session/attempt.ts'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSession } from '../core/session/create.ts'
import type { Session } from '../core/session/session-state.ts'
import { makeSpec } from '../../testkit/in-memory/simulation.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { writeTroubleFile } from '../state/repeated-trouble-file.ts'
import { writePid } from '../state/pid-file.ts'
import { progressFile } from '../state/supervisor-pid.ts'
import { attemptFolder } from '../state/session-folder.ts'
import { bootId, identifyProcess, checkLiveness } from '../os/process/processes.ts'
import { toSessionView } from './session-view.ts'

const ID = testSessionId('aaaaaaaaaa')
let temp: TempHome
beforeEach(() => {
  temp = tempHome()
  fs.mkdirSync(attemptFolder(temp.home, ID, 1).root, { recursive: true })
})
afterEach(() => temp.assertNoLeaks())

const newSession = (): Session =>
  createSession(makeSpec({ agent: 'mute', id: ID, supervision: { maxTime: 60_000 } }), { hasPrompt: true }).session

function alive(session: Session): Session {
  const birth = identifyProcess(process.pid)?.birth ?? ''
  const identity = { pid: process.pid, birth, boot: bootId, startedAt: 1_000 }
  return {
    ...withAttempt(session, { process: identity }),
    phase: { name: 'running', since: 1_000 },
    startedAt: 1_000,
  }
}

test('the view of a new session shows its record', () => {
  expect(toSessionView(newSession(), temp.home)).toEqual({
    name: 'mute-task',
    id: ID,
    parent: null,
    task: 'task',
    label: null,
    agent: 'mute',
    mode: 'headless',
    phase: 'starting',
    outcome: null,
    reason: null,
    trouble: null,
    title: 'a task',
    cwd: '/',
    attempt: 1,
    restarts: 0,
    pid: null,
    exitCode: null,
    signal: null,
    thread: null,
    autonomy: 'full',
    model: null,
    activity: null,
    messages: { accepted: 1, confirmed: 0 },
    spent: { turns: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: null },
    checkpoint: null,
    isSaving: false,
    checkpointTrouble: null,
    push: null,
    tasks: { open: 0, done: 0 },
    createdAt: '2026-01-01T00:00:00.000Z',
    startedAt: null,
    endedAt: null,
    lastOutputAt: null,
    until: null,
    deadline: '2026-01-01T00:01:00.000Z',
  })
})

test('the view shows trouble that repeats until the session has ended', () => {
  const trouble = { doing: 'closing the panes', count: 4, since: 5_000, reason: 'permission denied' }
  writeTroubleFile(temp.home, ID, trouble)
  const repeatedTrouble = { ...trouble, since: '1970-01-01T00:00:05.000Z' }
  expect(toSessionView(newSession(), temp.home)).toMatchObject({ repeatedTrouble })
  const phase = { name: 'ended', at: 9_000, outcome: 'done', reason: 'exit code 0', trouble: null } as const
  expect(toSessionView({ ...newSession(), phase }, temp.home)).toHaveProperty('repeatedTrouble', undefined)
})

test('the view shows a live process with its pid', () => {
  expect(toSessionView(alive(newSession()), temp.home)).toMatchObject({ phase: 'running', pid: process.pid })
})

test('the view does not show a process of an earlier boot, or with another birth, as alive', () => {
  const session = alive(newSession())
  writePid(progressFile(temp.home), process.pid)
  for (const other of [{ boot: 'another' }, { birth: '1' }]) {
    const gone = withAttempt(session, { process: { ...(session.attempt.process as ProcessIdentity), ...other } })
    expect(toSessionView(gone, temp.home)).toMatchObject({
      phase: 'stopping',
      pid: null,
      reason: `pid ${process.pid} is gone; not concluded yet`,
    })
  }
})

test('the view says that a session does not run when its process and the supervisor are dead, unless a stop is under way', () => {
  const session = alive(newSession())
  const identity = { ...(session.attempt.process as ProcessIdentity), birth: '1' }
  const gone = withAttempt(session, { process: identity })
  const reason = `pid ${process.pid} is gone; no supervisor runs`
  expect(toSessionView(gone, temp.home)).toMatchObject({ phase: 'stopping', isUnsupervised: true, reason })
  const next = { kind: 'end', outcome: 'stopped', reason: 'stopped by you', trouble: 'stopped' } as const
  const stopping = { ...gone, phase: { name: 'stopping', step: 'interrupt', due: 2_000, next } as const }
  expect(toSessionView(stopping, temp.home)).not.toHaveProperty('isUnsupervised')
  writePid(progressFile(temp.home), process.pid)
  expect(toSessionView(gone, temp.home)).not.toHaveProperty('isUnsupervised')
  fs.utimesSync(progressFile(temp.home), 5, 5)
  expect(toSessionView(gone, temp.home), 'a supervisor of an earlier boot').toMatchObject({ isUnsupervised: true })
})

test('the view shows the exit of a dead process as soon as it is on disk, even before the supervisor records it', async () => {
  const child = spawn('sleep', ['1000'])
  const identity = {
    pid: child.pid ?? 0,
    birth: identifyProcess(child.pid ?? 0)?.birth ?? '',
    boot: bootId,
    startedAt: 1_000,
  }
  const session = withAttempt(alive(newSession()), { process: identity })
  expect(toSessionView(session, temp.home).pid).toBe(child.pid)
  child.kill('SIGKILL')
  await waitUntil('it is dead', () => checkLiveness(identity) === 'dead')
  expect(toSessionView(session, temp.home)).toMatchObject({ phase: 'stopping', pid: null, exitCode: null })
  fs.writeFileSync(attemptFolder(temp.home, ID, 1).exit, 'kind ended\nstatus 137\nsignalled yes\nend\n')
  expect(toSessionView(session, temp.home)).toMatchObject({
    phase: 'stopping',
    signal: 'SIGKILL',
    reason: 'killed by SIGKILL; no supervisor runs',
  })
})

test('the last output is that of the newest attempt with output', () => {
  const session = withAttempt(newSession(), { number: 2 })
  fs.mkdirSync(attemptFolder(temp.home, ID, 2).root)
  fs.writeFileSync(attemptFolder(temp.home, ID, 1).stdout, 'hello')
  fs.writeFileSync(attemptFolder(temp.home, ID, 2).stdout, '')
  fs.utimesSync(attemptFolder(temp.home, ID, 1).stdout, 5, 5)
  expect(toSessionView(session, temp.home).lastOutputAt).toBe('1970-01-01T00:00:05.000Z')
})

test('the view shows how and when a session ended, rests or is blocked', () => {
  const exit = { kind: 'code', code: 3 } as const
  const ended: Session = {
    ...withAttempt(newSession(), { exit }),
    phase: { name: 'ended', at: 5_000, outcome: 'failed', reason: 'exit code 3', trouble: 'crash' },
  }
  expect(toSessionView(ended, temp.home)).toMatchObject({
    outcome: 'failed',
    exitCode: 3,
    endedAt: '1970-01-01T00:00:05.000Z',
    deadline: null,
  })
  const resting: Session = {
    ...withAttempt(newSession(), { exit }),
    phase: { name: 'resting', cause: 'crash', trouble: 'crash', since: 1_000, until: 9_000, reason: 'exit code 3' },
  }
  expect(toSessionView(resting, temp.home)).toMatchObject({
    phase: 'resting',
    until: '1970-01-01T00:00:09.000Z',
    reason: 'exit code 3',
    trouble: 'crash',
  })
  const asking = { name: 'waiting', since: 1, question: 'may I?', trouble: 'approval' } as const
  expect(toSessionView({ ...newSession(), phase: asking }, temp.home)).toMatchObject({
    phase: 'blocked',
    reason: 'waiting for you: may I?',
    trouble: 'approval',
  })
  const held = { ...asking, name: 'blocked', question: 'held by you', trouble: 'held' } as const
  expect(toSessionView({ ...newSession(), phase: held }, temp.home)).toMatchObject({
    reason: 'held by you',
    trouble: 'held',
  })
})

test('the view shows the activity, the read messages and the usage', () => {
  const session = alive(newSession())
  const spent = { input: 1_200, cached: 200, output: 30, usd: 0.5, turns: 2 }
  const tools = [{ id: 'a', tool: 'Bash', summary: 'npm test', since: 1 }]
  const busy: Session = {
    ...withAttempt(session, { activity: { tools, editedAt: null, retrying: null } }),
    messages: [...session.messages.map(message => ({ ...message, confirmedAt: 2_000 })), ...session.messages],
    spending: { ...session.spending, before: spent, attempt: spent },
  }
  expect(toSessionView(busy, temp.home)).toMatchObject({
    activity: 'Bash npm test',
    messages: { accepted: 2, confirmed: 1 },
    spent: { turns: 4, inputTokens: 2_400, cachedTokens: 400, outputTokens: 60, costUsd: 1 },
  })
  const failure = { kind: 'overloaded', text: '529 Overloaded', resetAt: null, remedy: null } as const
  const retrying = withAttempt(busy, { activity: { ...busy.attempt.activity, retrying: failure } })
  expect(toSessionView(retrying, temp.home).activity).toBe('tries again: 529 Overloaded')
})
