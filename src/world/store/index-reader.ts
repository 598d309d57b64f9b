import { isSessionId, type SessionId } from '../../core/session/session-id-and-name.ts'
import type { Outcome, Session } from '../../core/session/session-state.ts'
import type { Instant } from '../../lib/time.ts'
import type { Database } from '../../os/sqlite.ts'
import { parseSessions } from './session-rows.ts'

/** The facts by which people and commands choose a session. */
export interface SessionKey {
  readonly id: SessionId
  readonly name: string
  readonly task: string
  readonly label: string | null
  readonly agent: string
  readonly cwd: string
  readonly parent: SessionId | null
  readonly createdAt: Instant
  /** Null while the session lives. */
  readonly endedAt: Instant | null
  readonly outcome: Outcome | null
}

/** Selects sessions. All given conditions hold; the rows that it reads depend on the first of them. */
export interface KeyFilter {
  readonly name?: string
  readonly label?: string
  readonly task?: string
  readonly id?: string
  /** The beginning of a name, label or task; with `withIds` also of an id. */
  readonly prefix?: { readonly text: string; readonly withIds: boolean }
  readonly parent?: string
  readonly cwds?: readonly string[]
  readonly agents?: readonly string[]
  readonly outcome?: Outcome
  readonly endedSince?: Instant
  readonly endedUntil?: Instant
  /**
   * Omits the workers of sessions that still exist. `anywhere`: of all. `among-matches`: only of those with the same
   * word, such as a name or a prefix; without a word, of those in these folders.
   */
  readonly isTopLevel?: 'anywhere' | 'among-matches'
}

const SELECT = `SELECT id, name, task, label, agent, cwd, parent, created_at AS createdAt, ended_at AS endedAt, outcome
  FROM session_index s`

/** Reads the index of sessions. It reads only rows that a search returns, as far as an index can tell. */
export class IndexReader {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Returns the live sessions, newest first. */
  live(filter: KeyFilter = {}): SessionKey[] {
    const { where, values } = conditions(filter)
    return this.#keys(`${SELECT} INDEXED BY index_live WHERE ended_at IS NULL${where} ORDER BY created_at DESC`, values)
  }

  /** Returns the ended sessions, the latest end first. `after` continues behind a session of an earlier page. */
  ended(filter: KeyFilter, { limit, after }: { limit: number; after?: SessionKey | undefined }): SessionKey[] {
    const { where, values } = conditions(filter)
    const page = after === undefined ? '' : ' AND (ended_at, id) < ($afterEnd, $afterId)'
    const sql = `${SELECT} WHERE ended_at IS NOT NULL${where}${page} ORDER BY ended_at DESC, id DESC LIMIT $limit`
    return this.#keys(sql, {
      ...values,
      limit,
      ...(after !== undefined && { afterEnd: after.endedAt, afterId: after.id }),
    })
  }

  /** Returns the different names of ended sessions, the latest end first. */
  endedNames(filter: KeyFilter): string[] {
    const { where, values } = conditions(filter)
    const sql = `SELECT name FROM session_index s WHERE ended_at IS NOT NULL${where} GROUP BY name ORDER BY max(ended_at) DESC`
    return this.#all<{ name: string }>(sql, values).map(({ name }) => name)
  }

  /** Counts ended sessions. Most have no parent, and an index alone counts those. */
  countEnded({ isTopLevel, ...filter }: KeyFilter = {}): number {
    const all = this.#count(filter, '', '')
    if (isTopLevel === undefined) return all
    const fromIndex = (chosen: KeyFilter): number =>
      this.#count(chosen, ' INDEXED BY index_parent', ' AND s.parent IS NOT NULL')
    return all - fromIndex(filter) + fromIndex({ ...filter, isTopLevel })
  }

  #count(filter: KeyFilter, hint: string, more: string): number {
    const { where, values } = conditions(filter)
    const sql = `SELECT count(*) AS count FROM session_index s${hint} WHERE ended_at IS NOT NULL${more}${where}`
    return this.#all<{ count: number }>(sql, values)[0]?.count ?? 0
  }

  /** Returns true when a session, live or ended, passes the filter. */
  has(filter: KeyFilter): boolean {
    const { where, values } = conditions(filter)
    return this.#all<unknown>(`SELECT 1 FROM session_index s WHERE true${where} LIMIT 1`, values).length > 0
  }

  /** Returns the workers of a session, oldest first. */
  children(parent: SessionId): SessionKey[] {
    return this.#keys(`${SELECT} WHERE parent = $parent ORDER BY created_at`, { parent })
  }

  /** Returns the sessions that were made last, newest first. */
  newest(limit: number): SessionKey[] {
    return this.#keys(`${SELECT} ORDER BY created_at DESC LIMIT $limit`, { limit })
  }

  load(id: SessionId): Session | undefined {
    return this.loadAll([id])[0]
  }

  /** Returns the sessions with these ids that exist, in this order. */
  loadAll(ids: readonly SessionId[]): Session[] {
    const statement = this.#database.prepare('SELECT state FROM sessions WHERE id = $id')
    return parseSessions(ids.flatMap(id => statement.all({ id })))
  }

  #keys(sql: string, values: Values): SessionKey[] {
    return this.#all<StoredKey>(sql, values).filter(isSessionKey)
  }

  #all<T>(sql: string, values: Values): T[] {
    return this.#database.prepare(sql).all(values) as T[]
  }
}

type StoredKey = Omit<SessionKey, 'id' | 'parent'> & { readonly id: string; readonly parent: string | null }

function isSessionKey(key: StoredKey): key is SessionKey {
  return isSessionId(key.id) && (key.parent === null || isSessionId(key.parent))
}

type Values = Record<string, string | number | null>

/** Returns the condition of a filter in SQL, and the values of its parameters. */
function conditions(filter: KeyFilter): { where: string; values: Values } {
  const { isTopLevel, prefix, cwds, agents, outcome, endedSince, endedUntil } = filter
  const values: Values = {}
  const column = (name: string, value: string | number, operator = '='): string => {
    const key = `${name}${Object.keys(values).length}`
    values[key] = value
    return `s.${name} ${operator} $${key}`
  }
  const oneOf = (name: string, all: readonly string[]): string =>
    all.length === 0 ? 'false' : `(${all.map(value => column(name, value)).join(' OR ')})`
  const begins = (name: string, text: string): string =>
    `(${column(name, text, '>=')} AND ${column(name, `${text}\u{10ffff}`, '<')})`
  const parts = (['name', 'label', 'task', 'id', 'parent'] as const).flatMap(name => {
    const value = filter[name]
    return value === undefined ? [] : [column(name, value)]
  })
  if (prefix !== undefined) {
    const columns = ['name', 'label', 'task', ...(prefix.withIds ? ['id'] : [])]
    parts.push(`(${columns.map(name => begins(name, prefix.text)).join(' OR ')})`)
  }
  const words = [...parts]
  if (cwds !== undefined) parts.push(oneOf('cwd', cwds))
  if (agents !== undefined) parts.push(oneOf('agent', agents))
  // A word that means a loop does not mean its workers, in any folder.
  if (isTopLevel === 'among-matches') parts.push(withoutWorkersOf(words.length > 0 ? words : parts))
  if (isTopLevel === 'anywhere') parts.push(withoutWorkersOf([]))
  if (outcome !== undefined) parts.push(column('outcome', outcome))
  if (endedSince !== undefined) parts.push(column('ended_at', endedSince, '>='))
  if (endedUntil !== undefined) parts.push(column('ended_at', endedUntil, '<='))
  return { where: parts.map(part => ` AND ${part}`).join(''), values }
}

function withoutWorkersOf(parts: readonly string[]): string {
  const same = parts.map(part => ` AND ${part.replaceAll(/\bs\./g, 'p.')}`).join('')
  return `(s.parent IS NULL OR NOT EXISTS (SELECT 1 FROM session_index p WHERE p.id = s.parent${same}))`
}
