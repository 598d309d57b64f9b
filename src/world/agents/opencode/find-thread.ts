import fs from 'node:fs'
import path from 'node:path'
import { type ThreadId, isThreadId } from '../../../core/session/conversation.ts'
import { Trouble, errorMessage } from '../../../lib/errors.ts'
import type { ThreadQuery, ThreadRecord } from '../../../ports/agent.ts'
import { type Database, openDatabase } from '../../../os/sqlite.ts'
import { realPath } from '../shared/tolerant-file-reads.ts'

/**
 * In milliseconds. The supervisor waits for this; a reader waits only while SQLite recovers the log of a crashed
 * writer.
 */
const BUSY_TIMEOUT = 1_000

/** Reads opencode's own record of a thread; without an id, the thread with our tag as its title. */
export function findThread(query: ThreadQuery): ThreadRecord | null {
  const file = databaseFile(query.env)
  if (!fs.existsSync(file)) return null
  try {
    const database = openDatabase(file, { readOnly: true, wait: BUSY_TIMEOUT })
    try {
      const thread = query.thread === null ? findByTag(database, query.tag) : findById(database, query)
      return thread === null ? null : { thread, messages: readMessages(database, thread) }
    } finally {
      database.close()
    }
  } catch (cause) {
    const isUnknownSchema = /no such (?:table|column)|not a database/.test(errorMessage(cause))
    throw new Trouble('looking up the thread that opencode keeps', cause, { mayHelpToRetry: !isUnknownSchema })
  }
}

function databaseFile(env: ThreadQuery['env']): string {
  const folder = path.join(env['XDG_DATA_HOME'] || path.join(env['HOME'] ?? '/', '.local/share'), 'opencode')
  return path.resolve(folder, env['OPENCODE_DB'] || 'opencode.db')
}

/** opencode 1.18.33 hangs for ever in a thread that began in another folder, so such a thread is not ours. */
function findById(database: Database, { thread, cwd }: ThreadQuery): ThreadId | null {
  const row = database.prepare('SELECT id, directory FROM session WHERE id = ?').get(thread)
  const { directory } = (row as { directory?: string } | undefined) ?? {}
  return directory !== undefined && realPath(directory) === realPath(cwd) ? rowId(row) : null
}

/** Subagents work in child sessions of ours. */
function findByTag(database: Database, tag: ThreadId): ThreadId | null {
  return rowId(
    database.prepare('SELECT id FROM session WHERE title = ? AND parent_id IS NULL ORDER BY time_created').get(tag),
  )
}

function rowId(row: unknown): ThreadId | null {
  const { id } = (row as { id: string } | undefined) ?? {}
  return id !== undefined && isThreadId(id) ? id : null
}

/**
 * Selects the messages of people: opencode marks contents of attached files, requests to continue after compaction and
 * similar texts as synthetic.
 */
const MESSAGES_QUERY = `
  SELECT message.id AS message, json_extract(part.data, '$.text') AS text
  FROM message JOIN part ON part.message_id = message.id
  WHERE message.session_id = ? AND json_extract(message.data, '$.role') = 'user'
    AND json_extract(part.data, '$.type') = 'text' AND json_extract(part.data, '$.synthetic') IS NOT 1
  ORDER BY message.time_created, message.id, part.id`

function readMessages(database: Database, thread: ThreadId): string[] {
  const rows = database.prepare(MESSAGES_QUERY).all(thread) as unknown as { message: string; text: string }[]
  const messages = new Map<string, string>()
  for (const { message, text } of rows) messages.set(message, (messages.get(message) ?? '') + text)
  return [...messages.values()]
}
