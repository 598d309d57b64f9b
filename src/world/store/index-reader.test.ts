import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSessionId } from '../../../testkit/core/ids.ts'
import { storedSession } from '../../../testkit/views/stored-sessions.ts'
import { type Database, openDatabase } from '../../os/sqlite.ts'
import { IndexReader, type KeyFilter } from './index-reader.ts'
import { openStore } from './sqlite-store.ts'

const COUNT = 300

let folder: string
let database: Database
/** The statements that the reader has prepared. */
let statements: string[]
let index: IndexReader
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'index-'))
  const file = path.join(folder, 'oneshot.db')
  const store = openStore(file)
  store.insertSessions(
    Array.from({ length: COUNT }, (_, n) =>
      storedSession({
        id: `id${n}`,
        task: `task-${n}`,
        name: `talker-task-${n}`,
        cwd: `/p${n % 7}`,
        endedAt: 1_000 + n,
      }),
    ),
  )
  store.insertSessions([
    storedSession({ id: 'live', task: 'live', createdAt: 5_000 }),
    storedSession({ id: 'worker', task: 'live-1', createdAt: 5_001, parent: { id: 'live', key: 'k' } }),
  ])
  store.close()
  database = openDatabase(file)
  statements = []
  index = new IndexReader(recording(database))
})
afterEach(() => {
  database.close()
  fs.rmSync(folder, { recursive: true })
})

function recording(real: Database): Database {
  const prepare: Database['prepare'] = sql => {
    statements.push(sql)
    return real.prepare(sql)
  }
  return { prepare } as unknown as Database
}

/** Returns how SQLite finds the rows of the statements so far, such as `SEARCH s USING INDEX index_name (name=?)`. */
function plans(): string[] {
  return statements.flatMap(sql => {
    const values = Object.fromEntries([...sql.matchAll(/\$(\w+)/g)].map(([, name]) => [name, 1]))
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[]
    return rows.map(({ detail }) => detail)
  })
}

const ids = (keys: readonly { id: string }[]): string[] => keys.map(({ id }) => id)

test.each<[string, KeyFilter, string[]]>([
  ['name', { name: 'talker-task-7' }, ['id7']],
  ['task', { task: 'task-8' }, ['id8']],
  ['id', { id: 'id9' }, ['id9']],
  ['prefix', { prefix: { text: 'talker-task-29', withIds: false } }, ['id299', 'id298', 'id297', 'id296', 'id295']],
  ['id prefix', { prefix: { text: 'id11', withIds: true } }, ['id119', 'id118', 'id117', 'id116', 'id115']],
  ['folder', { cwds: ['/p3'] }, ['id297', 'id290', 'id283', 'id276', 'id269']],
])('the reader finds ended sessions by %s with a search in an index', (_, filter, expected) => {
  expect(ids(index.ended({ ...filter, isTopLevel: 'among-matches' }, { limit: 5 }))).toEqual(expected)
  expect(plans().filter(plan => plan.startsWith('SCAN'))).toEqual([])
})

test('the reader finds live sessions without a look at ended ones', () => {
  expect(ids(index.live())).toEqual(['worker', 'live'])
  expect(ids(index.live({ prefix: { text: 'liv', withIds: false }, isTopLevel: 'among-matches' }))).toEqual(['live'])
  expect(plans().filter(plan => !plan.includes('index_live') && !plan.includes('PRIMARY KEY'))).toEqual(
    plans().filter(plan => plan.includes('CORRELATED')),
  )
})

test('the last ended sessions come from the end of an index, and a page continues behind the one before', () => {
  const first = index.ended({}, { limit: 2 })
  expect(ids(first)).toEqual(['id299', 'id298'])
  expect(ids(index.ended({}, { limit: 2, after: first[1] }))).toEqual(['id297', 'id296'])
  expect(plans().every(plan => plan.includes('index_ended'))).toBe(true)
  expect(plans().some(plan => plan.includes('TEMP B-TREE'))).toBe(false)
})

test('the reader loads a worker and its parent by their ids', () => {
  expect(ids(index.children(testSessionId('live')))).toEqual(['worker'])
  expect(index.load(testSessionId('id12'))?.spec.task).toBe('task-12')
  expect(plans().every(plan => !plan.startsWith('SCAN'))).toBe(true)
})
