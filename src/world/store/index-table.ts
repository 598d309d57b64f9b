import type { Session } from '../../core/session/session-state.ts'

/** The columns by which oneshot finds sessions. They repeat facts of the record, so that no search parses a record. */
const COLUMNS = [
  'id',
  'name',
  'task',
  'label',
  'agent',
  'cwd',
  'parent',
  'parent_key',
  'owner',
  'thread',
  'created_at',
  'begun_at',
  'ended_at',
  'outcome',
] as const

/**
 * Migration 3 makes this table, so a later change of it needs a migration of its own.
 * `owner` is the session that started this one, or whose worker it is. `begun_at` is its acceptance or last resume.
 * `ended_at` is null while the session lives. `is_settled` is 1 if an ended session has no open work.
 */
export const CREATE_INDEX_TABLE = `CREATE TABLE session_index (${indexTableColumns()}) WITHOUT ROWID;`

export function indexTableColumns(): string {
  return `id TEXT PRIMARY KEY, name TEXT NOT NULL, task TEXT NOT NULL, label TEXT, agent TEXT NOT NULL, cwd TEXT NOT NULL,
    parent TEXT, parent_key TEXT, owner TEXT, thread TEXT,
    created_at INTEGER NOT NULL, begun_at INTEGER NOT NULL, ended_at INTEGER, outcome TEXT,
    is_settled INTEGER NOT NULL DEFAULT 0`
}

export const CREATE_INDEXES = `
  CREATE INDEX index_created ON session_index (created_at);
  CREATE INDEX index_live ON session_index (created_at) WHERE ended_at IS NULL;
  CREATE INDEX index_ended ON session_index (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX index_unsettled ON session_index (created_at) WHERE is_settled = 0;
  CREATE INDEX index_name ON session_index (name, ended_at);
  CREATE INDEX index_task ON session_index (task, ended_at);
  CREATE INDEX index_label ON session_index (label, ended_at) WHERE label IS NOT NULL;
  CREATE INDEX index_agent ON session_index (agent, ended_at);
  CREATE INDEX index_cwd ON session_index (cwd, ended_at);
  CREATE INDEX index_begun ON session_index (cwd, begun_at);
  CREATE INDEX index_parent ON session_index (parent, parent_key) WHERE parent IS NOT NULL;
  CREATE INDEX index_owner ON session_index (owner) WHERE owner IS NOT NULL;
  CREATE INDEX index_thread ON session_index (thread) WHERE thread IS NOT NULL;`

/** Fills the table from the records, as versions up to 0.1.0 wrote them. Omits records that nobody can read. */
export function fillIndexTable(table: string): string {
  const field = (path: string): string => `json_extract(state, '$.${path}')`
  return `INSERT INTO ${table} (${COLUMNS.join(', ')})
    SELECT id, name, coalesce(${field('spec.task')}, name), ${field('spec.label')}, coalesce(${field('spec.agent')}, ''),
      coalesce(${field('spec.cwd')}, ''), ${field('spec.parent.id')}, ${field('spec.parent.key')},
      coalesce(${field('spec.startedBy')}, ${field('spec.parent.id')}),
      CASE json_type(state, '$.thread') WHEN 'text' THEN ${field('thread')} ELSE ${field('thread.id')} END,
      created_at, coalesce(${field('clockSince')}, created_at),
      CASE is_live WHEN 0 THEN coalesce(${field('phase.at')}, created_at) END, ${field('phase.outcome')}
    FROM sessions WHERE json_valid(state);`
}

type Value = string | number | null

/** Returns the values of the columns, in their order. */
export function indexRow(session: Session): Value[] {
  const { spec, phase, thread, clockSince } = session
  const { id, name, task, agent, cwd, createdAt } = spec
  const names = [id, name, task, spec.label ?? null, agent, cwd]
  const relatives = [spec.parent?.id ?? null, spec.parent?.key ?? null, spec.startedBy ?? spec.parent?.id ?? null]
  const end = phase.name === 'ended' ? [phase.at, phase.outcome] : [null, null]
  return [...names, ...relatives, thread.id, createdAt, clockSince, ...end]
}

/** Writes a row only if it differs: most records of a session leave it as it is. */
export const PUT_INDEX_ROW = `INSERT INTO session_index (${COLUMNS.join(', ')})
  VALUES (${COLUMNS.map(() => '?').join(', ')})
  ON CONFLICT (id) DO UPDATE SET is_settled = 0, ${COLUMNS.map(column => `${column} = excluded.${column}`).join(', ')}
  WHERE is_settled <> 0
    OR (${COLUMNS.map(column => `session_index.${column}`).join(', ')})
      IS NOT (${COLUMNS.map(column => `excluded.${column}`).join(', ')})`
