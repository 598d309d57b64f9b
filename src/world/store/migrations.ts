import { NewerVersion } from '../../lib/codec.ts'
import { Trouble } from '../../lib/errors.ts'
import type { Database } from '../../os/sqlite.ts'
import { CREATE_INDEX_TABLE, CREATE_INDEXES, fillIndexTable, indexTableColumns } from './index-table.ts'

/** Each entry migrates a database to the next version. Releases add entries and never change old ones. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   INSERT INTO meta VALUES ('epoch', '0');
   CREATE TABLE sessions (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     is_live INTEGER NOT NULL,
     due INTEGER,
     created_at INTEGER NOT NULL,
     state TEXT NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX sessions_due ON sessions (due) WHERE due IS NOT NULL;
   CREATE INDEX sessions_live ON sessions (is_live) WHERE is_live = 1;
   CREATE TABLE events (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     session_id TEXT NOT NULL,
     at INTEGER NOT NULL,
     type TEXT NOT NULL,
     body TEXT NOT NULL
   );
   CREATE INDEX events_session ON events (session_id, seq);
   CREATE TABLE outbox (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     session_id TEXT NOT NULL,
     effect TEXT NOT NULL
   );
   CREATE INDEX outbox_session ON outbox (session_id, seq);`,
  `CREATE TABLE notices (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     session_id TEXT NOT NULL,
     at INTEGER NOT NULL,
     is_addressed INTEGER NOT NULL DEFAULT 0,
     body TEXT NOT NULL
   );
   CREATE INDEX notices_fresh ON notices (seq) WHERE is_addressed = 0;
   CREATE INDEX notices_session ON notices (session_id, at);
   CREATE TABLE deliveries (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     notice INTEGER NOT NULL REFERENCES notices (seq) ON DELETE CASCADE,
     channel TEXT NOT NULL,
     due INTEGER NOT NULL,
     tries INTEGER NOT NULL DEFAULT 0,
     state TEXT NOT NULL DEFAULT 'pending',
     at INTEGER,
     remark TEXT NOT NULL DEFAULT '',
     UNIQUE (notice, channel)
   );
   CREATE INDEX deliveries_pending ON deliveries (seq) WHERE state = 'pending';
   CREATE TABLE hooks (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     session_id TEXT NOT NULL,
     body TEXT NOT NULL
   );`,
  `${CREATE_INDEX_TABLE} ${fillIndexTable('session_index')} ${CREATE_INDEXES}`,
]

/** Returns the version of a database. Refuses a database of a newer program. */
export function readVersion(database: Database): number {
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number }
  if (version <= MIGRATIONS.length) return version
  throw new Trouble('opening the database', new NewerVersion(version, MIGRATIONS.length), { mayHelpToRetry: false })
}

/** Returns the statements that make the index for one connection to an older database, which stays as it is. */
export function temporaryIndex(): string {
  return `DROP TABLE IF EXISTS temp.session_index; CREATE TEMP TABLE session_index (${indexTableColumns()});
    ${fillIndexTable('temp.session_index')}
    CREATE INDEX temp.index_live ON session_index (created_at) WHERE ended_at IS NULL;`
}

/**
 * Migrates the database to the newest version. Each step is one transaction: after a kill, the next start repeats it.
 */
export function migrate(database: Database): void {
  for (let version = readVersion(database); version < MIGRATIONS.length; version++) {
    database.exec(`BEGIN IMMEDIATE; ${MIGRATIONS[version]} PRAGMA user_version = ${version + 1}; COMMIT;`)
  }
}
