import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Engine } from '../../src/engine/engine.ts'
import { DEFAULT_TIMINGS } from '../../src/core/session/supervisor-timings.ts'
import type { Session } from '../../src/core/session/session-state.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { SimulatedMachine } from '../../testkit/in-memory/machine.ts'
import { noServices } from '../../testkit/in-memory/notifier.ts'
import { InMemoryRuntime } from '../../testkit/in-memory/runtime.ts'
import { scriptedAgents } from '../../testkit/in-memory/scripted-agents.ts'
import { flushPromises, VirtualClock } from '../../testkit/in-memory/virtual-clock.ts'
import { MIGRATIONS } from '../../src/world/store/migrations.ts'
import { openDatabase } from '../../src/os/sqlite.ts'
import { openStore } from '../../src/world/store/sqlite-store.ts'
import { RESTING, SCHEMA_1, sessionRow, WAITING_TO_LAUNCH } from './version-1.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-history-'))
  file = path.join(folder, 'oneshot.db')
  const database = openDatabase(file)
  database.exec(SCHEMA_1)
  for (const row of [sessionRow(RESTING), sessionRow(WAITING_TO_LAUNCH)]) database.exec(row)
  database.exec(
    `INSERT INTO outbox (session_id, effect) VALUES ('${WAITING_TO_LAUNCH.spec.id}', '{"type":"launch","attempt":1,"resume":null}')`,
  )
  database.exec(
    `INSERT INTO events (session_id, at, type, body) VALUES ('${RESTING.spec.id}', 1000, 'session.created', '{"at":1000,"type":"session.created"}')`,
  )
  database.exec(`UPDATE meta SET value = '41' WHERE key = 'epoch'`)
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

test('the first migration is unchanged', () => {
  const fresh = openDatabase(path.join(folder, 'fresh.db'))
  fresh.exec(MIGRATIONS[0] ?? '')
  const tables = (database: ReturnType<typeof openDatabase>): string[] => {
    const rows = database.prepare('SELECT sql FROM sqlite_master ORDER BY name').all() as { sql: string }[]
    return rows.map(row => row.sql.replace(/\s+/g, ''))
  }
  expect(tables(fresh)).toEqual(tables(openDatabase(file)))
})

test('the store opens a database of version 1 with all its data', () => {
  const store = openStore(file)
  expect(store.epoch).toBe(42)
  const { maxTime, restart, ...spec } = RESTING.spec
  const { thread, attempt, life, exit, bookmark, phase, wanted, restarts, startedAt } = RESTING
  expect(store.load(testSessionId(spec.id))).toMatchObject({
    spec: { ...spec, supervision: { maxTime, restart: { on: 'crash', ...restart } } },
    phase,
    wanted,
    restarts,
    startedAt,
    attempt: { number: attempt, process: life, exit, result: null, position: { output: bookmark.output } },
    transcriptLength: bookmark.transcript,
    thread: { id: thread, needsDigest: false },
  })
  expect(store.load(testSessionId(spec.id))?.messages).toMatchObject([
    { id: 1, summary: 'fix it', confirmedAt: spec.createdAt },
  ])
  expect(store.load(testSessionId(WAITING_TO_LAUNCH.spec.id))?.messages).toMatchObject([{ id: 1, confirmedAt: null }])
  expect(store.live()).toHaveLength(2)
  expect(store.events(testSessionId(RESTING.spec.id)).map(({ event }) => event)).toEqual([
    { at: 1_000, type: 'session.created' },
  ])
  expect(store.pendingEffects().map(item => item.effect)).toEqual([{ type: 'launch', attempt: 1, resume: null }])
  expect(store.nextDue()).toBe(RESTING.phase.until)
})

test('the engine resumes the sessions of a version 1 database', async () => {
  const store = openStore(file)
  const clock = new VirtualClock(RESTING.phase.until - 10)
  const machine = new SimulatedMachine(clock, {
    talker: { run: ({ argv }) => [{ say: `${argv.join(' ')}\ndone: it\n` }] },
  })
  const work = new InMemoryRuntime(machine)
  for (const { spec } of [RESTING, WAITING_TO_LAUNCH])
    await work.prepare(testSessionId(spec.id), { prompt: Buffer.from('do it'), env: {} })
  const troubles: unknown[] = []
  const onTrouble = (_: string, cause: unknown): void => void troubles.push(cause)
  const engine = new Engine({
    store,
    runtime: work,
    clock,
    agents: scriptedAgents(),
    timings: DEFAULT_TIMINGS,
    onTrouble,
    ...noServices(),
  })
  await engine.start()
  while (store.live().length > 0 && (await clock.runNextTimer())) await flushPromises()
  const outcome = (session: Session): unknown => session.phase.name === 'ended' && session.phase.outcome
  expect(store.all().map(outcome)).toEqual(['done', 'done'])
  expect(machine.starts.sort()).toEqual([`${RESTING.spec.id}.2`, `${WAITING_TO_LAUNCH.spec.id}.1`].sort())
  expect(troubles).toEqual([])
})
