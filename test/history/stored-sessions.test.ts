import { expect, test } from 'vitest'
import type { Session } from '../../src/core/session/session-state.ts'
import type { Supervision } from '../../src/core/session/supervision-options.ts'
import { createSession } from '../../src/core/session/create.ts'
import { makeSpec } from '../../testkit/in-memory/simulation.ts'
import { type StoredSession, upgradeSession } from '../../src/core/session/upgrade-stored-session.ts'
import { readRecording } from './recorded-home.ts'

/** Returns the sessions of 0.1.0 as they are stored in the database, or in the mirrors beside their output. */
function recordedSessions(source: 'database' | 'mirrors'): StoredSession[] {
  const { database, files } = readRecording('0.1.0')
  const texts =
    source === 'database'
      ? (database.tables['sessions'] ?? []).map(({ state }) => String(state))
      : files.filter(({ name }) => name.endsWith('/session.json')).map(({ text = '' }) => text)
  return texts.map(text => JSON.parse(text) as StoredSession)
}

/** Returns the upgraded sessions of 0.1.0 by their task. */
function upgradedSessions(source: 'database' | 'mirrors'): Map<string, Session> {
  const sessions = recordedSessions(source).map(upgradeSession)
  return new Map(sessions.map(session => [session.spec.task, session]))
}

for (const source of ['database', 'mirrors'] as const)
  test(`the ${source} of 0.1.0: a session whose work the verifier inspects is in the phase verifying`, () => {
    expect(upgradedSessions(source).get('verifying')?.phase).toEqual({
      name: 'verifying',
      since: expect.any(Number),
      next: { kind: 'end', outcome: 'done', reason: 'exit code 0', trouble: null },
    })
    expect(upgradedSessions(source).get('stopping')?.phase).toMatchObject({ name: 'stopping', step: 'interrupt' })
  })

for (const source of ['database', 'mirrors'] as const)
  test(`the ${source} of 0.1.0: every session has an attempt with all its facts, and no field of the flat record is left`, () => {
    const sessions = upgradedSessions(source)
    const { session: present } = createSession(makeSpec({ agent: 'talker' }), { hasPrompt: true })
    for (const session of sessions.values()) {
      const { stoppedBy: _, ...fields } = session
      expect(Object.keys(fields).sort()).toEqual(Object.keys(present).sort())
      expect(Object.keys(session.attempt).sort()).toEqual(Object.keys(present.attempt).sort())
      expect(upgradeSession(session)).toBe(session)
    }
    expect(sessions.get('running')).toMatchObject({
      attempt: {
        number: 1,
        input: { kind: 'message', message: 1, isConfirmed: true },
        isTurnOver: false,
        process: { pid: expect.any(Number), birth: expect.any(String) },
        exit: null,
        position: { output: expect.any(Number), parserState: {} },
      },
      messages: [{ id: 1, summary: expect.stringContaining('steps') }, { id: 2 }],
      transcriptLength: expect.any(Number),
    })
    expect(sessions.get('finished')?.attempt).toMatchObject({
      isTurnOver: true,
      exit: { kind: 'code', code: 0 },
      result: { ok: true, text: 'All 1 steps are done.' },
    })
  })

for (const source of ['database', 'mirrors'] as const)
  test(`the ${source} of 0.1.0: a blocked session with a process is in the phase waiting, one without stays blocked`, () => {
    const sessions = upgradedSessions(source)
    const since = expect.any(Number)
    expect(sessions.get('asking')?.phase).toEqual({ name: 'waiting', since, question: 'May I?', trouble: 'approval' })
    expect(sessions.get('held')?.phase).toEqual({ name: 'blocked', since, question: 'held by you', trouble: 'held' })
  })

for (const source of ['database', 'mirrors'] as const)
  test(`the ${source} of 0.1.0: every spec holds its supervision options in their group, and none beside it`, () => {
    const recorded = recordedSessions(source)
    expect(recorded.length).toBeGreaterThan(10)
    for (const written of recorded) {
      const { supervision, ...others } = upgradeSession(written).spec
      expect({ ...others, ...supervision }).toEqual(written.spec)
      expect(Object.keys(others).filter(name => name in ALL_OPTIONS)).toEqual([])
      expect(Object.keys(supervision).filter(name => !(name in ALL_OPTIONS))).toEqual([])
    }
    expect(upgradedSessions(source).get('given-up')?.spec.supervision).toMatchObject({
      restart: { on: 'failure', limit: 1, nextDelay: 1 },
      saving: { mode: 'off' },
    })
  })

const ALL_OPTIONS: Required<Supervision> = {
  maxTime: 9,
  limits: { usd: 1, tokens: 2, turns: 3 },
  restart: { on: 'failure', limit: 1, window: 2, firstDelay: 3, nextDelay: 4, maxDelay: 5 },
  patience: { silence: 1, limit: 2, absence: 3 },
  stopGrace: 4,
  memory: 5,
  maxOutput: 6,
  saving: { mode: 'branch', interval: 7, push: 'origin' },
  alertAfter: 8,
  verify: { git: true, check: 'true' },
  onExit: ['/bin/hook'],
  projectFiles: false,
  beads: true,
}

test('a record with a nested attempt and a flat spec keeps every option, and its attempt', () => {
  const { session } = createSession(makeSpec({ agent: 'talker', supervision: ALL_OPTIONS }), { hasPrompt: true })
  const { supervision, ...others } = session.spec
  expect(upgradeSession({ ...session, spec: { ...others, ...supervision } })).toEqual(session)
  expect(upgradeSession(session)).toBe(session)
})
