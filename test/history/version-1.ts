/** The schema of the first release. It never changes: users have such databases. */
export const SCHEMA_1 = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
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
CREATE INDEX outbox_session ON outbox (session_id, seq);
PRAGMA user_version = 1;
`

const SPEC = {
  id: 'aaaaaaaaaa',
  name: 'talker-fix',
  task: 'fix',
  agent: 'talker',
  mode: 'headless',
  proof: 'end-event',
  cwd: '/',
  argv: ['talker'],
  title: 'fix it',
  maxTime: 18_000_000,
  restart: { limit: 10, window: 600_000, firstDelay: 100, nextDelay: 2_000, maxDelay: 64_000 },
  createdAt: 1_000_000,
}

/** Its first attempt crashed; the second must resume its thread. */
export const RESTING = {
  spec: SPEC,
  phase: { name: 'resting', until: 1_005_000, reason: 'killed by SIGKILL before the agent ended its turn' },
  wanted: 'run',
  attempt: 1,
  restarts: [],
  thread: 't-1',
  life: null,
  exit: { kind: 'signal', signal: 'SIGKILL' },
  lastWord: null,
  startedAt: 1_000_010,
  bookmark: { output: 120, transcript: 0 },
}

/** The supervisor accepted it just before a power cut. */
export const WAITING_TO_LAUNCH = {
  spec: { ...SPEC, id: 'bbbbbbbbbb', name: 'talker-new', task: 'new', maxTime: null },
  phase: { name: 'starting', since: 1_000_000 },
  wanted: 'run',
  attempt: 1,
  restarts: [],
  thread: null,
  life: null,
  exit: null,
  lastWord: null,
  startedAt: null,
  bookmark: { output: 0, transcript: 0 },
}

/** Returns the row as version 1 wrote it: searchable fields in columns, everything else in one text. */
export function sessionRow(session: typeof RESTING | typeof WAITING_TO_LAUNCH): string {
  const { id, name, createdAt } = session.spec
  const due = 'until' in session.phase ? session.phase.until : 'NULL'
  const state = JSON.stringify(session).replaceAll("'", "''")
  return `INSERT INTO sessions VALUES ('${id}', '${name}', 1, ${due}, ${createdAt}, '${state}')`
}
