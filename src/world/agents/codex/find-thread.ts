import fs from 'node:fs'
import { type ThreadId, isThreadId } from '../../../core/session/conversation.ts'
import { type Duration, type Instant, formatIso } from '../../../lib/time.ts'
import { Trouble } from '../../../lib/errors.ts'
import type { ThreadQuery, ThreadRecord } from '../../../ports/agent.ts'
import { type JsonObject, asArray, asObject, asString, joinTextParts, parseObject } from '../shared/tolerant-json.ts'
import { listNames, modifiedAt, realPath } from '../shared/tolerant-file-reads.ts'
import path from 'node:path'

/** codex and oneshot read the clock at different moments. */
const CLOCK_TOLERANCE: Duration = 5_000

/**
 * Reads codex's own record of a thread. Without an id, it returns the one thread that began in this folder, after that
 * time, and with this text.
 */
export function findThread(query: ThreadQuery): ThreadRecord | null {
  try {
    if (query.thread !== null) return findById(query.thread, query.env)
    const matching = rolloutsSince(query.since, query.env)
      .flatMap(file => matchRollout(file, query) ?? [])
      .filter(({ thread }) => !query.isForeign(thread))
    const [match] = matching
    return matching.length === 1 && match !== undefined ? match : null // If two threads match, neither is certainly ours.
  } catch (cause) {
    throw new Trouble('looking up the thread that codex keeps', cause)
  }
}

function findById(thread: ThreadId, env: ThreadQuery['env']): ThreadRecord | null {
  const file = findRollout(thread, env)
  if (file === null) return null
  return { thread, messages: extractMessages(fs.readFileSync(file, 'utf8')), writtenAt: modifiedAt(file) }
}

function matchRollout(file: string, { cwd, since, opening }: ThreadQuery): ThreadRecord | null {
  const content = fs.readFileSync(file, 'utf8')
  const meta = asObject(parseObject(content.slice(0, content.indexOf('\n')))?.['payload'])
  const begun = Date.parse(asString(meta['timestamp']))
  const isOurs = meta['source'] === 'exec' // This excludes threads of subagents and threads that a person began on a terminal.
  if (!isOurs || !(begun >= since - CLOCK_TOLERANCE) || !isSameFolder(asString(meta['cwd']), cwd)) return null
  const messages = extractMessages(content)
  const thread = asString(meta['id'])
  if (messages[0]?.trim() !== opening.trim() || !isThreadId(thread)) return null
  return { thread, messages, writtenAt: modifiedAt(file) }
}

/**
 * Returns the messages of people. codex 0.166.0 records each message twice, as an item for the model (with a note for
 * each image before the text) and as an event; a crash may leave only the item. Instructions, environment notes and
 * subagent reports are items of the user too, but of other kinds; compaction repeats messages inside a record of its
 * own.
 */
function extractMessages(content: string): string[] {
  const items: string[] = []
  const events: string[] = []
  for (const line of content.split('\n')) {
    if (!/"user\.text"|"UserMessage"|"user_message"/.test(line)) continue
    const record = parseObject(line)
    const payload = asObject(record?.['payload'])
    if (record?.['type'] === 'response_item' && payload['role'] === 'user') items.push(itemText(payload))
    if (record?.['type'] === 'event_msg') events.push(...eventText(payload))
  }
  return [...events, ...items.slice(events.length)]
}

function itemText(payload: JsonObject): string {
  const kinds = asArray(asObject(payload['internal_chat_message_metadata_passthrough'])['content_item_kinds'])
  return joinTextParts(asArray(payload['content']).filter((_, at) => kinds[at] === 'user.text'))
}

/** Versions before 0.166.0 write the same as `user_message`. */
function eventText(payload: JsonObject): string[] {
  if (payload['type'] === 'user_message') return [asString(payload['message'])]
  const item = asObject(payload['item'])
  if (payload['type'] !== 'item_completed' || item['type'] !== 'UserMessage') return []
  return [joinTextParts(item['content'])]
}

function isSameFolder(a: string, b: string): boolean {
  return a === b || realPath(a) === realPath(b)
}

type Env = Readonly<Record<string, string>>

const DAY: Duration = 86_400_000

/** Finds the file of a thread: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, with days in codex's local time. */
export function findRollout(thread: string, env: Env): string | null {
  const sessions = sessionsFolder(env)
  const days = listDays(sessions)
  const createdAt = threadCreatedAt(thread)
  const likely = days.filter(day => day >= dayFolder(createdAt - DAY) && day <= dayFolder(createdAt + DAY))
  for (const day of [...likely, ...days]) {
    const name = listNames(path.join(sessions, day)).find(file => file.endsWith(`-${thread}.jsonl`))
    if (name !== undefined) return path.join(sessions, day, name)
  }
  return null
}

/** Returns the rollouts that may have begun since then, and some older ones. */
function rolloutsSince(since: Instant, env: Env): string[] {
  const sessions = sessionsFolder(env)
  const days = listDays(sessions).filter(day => day >= dayFolder(since - DAY))
  return days.flatMap(day =>
    listNames(path.join(sessions, day))
      .filter(name => /^rollout-.*\.jsonl$/.test(name))
      .map(name => path.join(sessions, day, name)),
  )
}

function sessionsFolder(env: Env): string {
  const home = env['CODEX_HOME'] || path.join(env['HOME'] ?? '/', '.codex')
  return path.join(home, 'sessions')
}

/** Returns the days as `YYYY/MM/DD`, oldest first. */
function listDays(sessions: string): string[] {
  const below = (folder: string): string[] =>
    listNames(path.join(sessions, folder))
      .filter(name => /^\d+$/.test(name))
      .map(name => path.join(folder, name))
  return below('').flatMap(below).flatMap(below).sort()
}

/** Thread ids are UUIDs of version 7, which begin with the time. */
function threadCreatedAt(thread: string): Instant {
  const at = Number.parseInt(thread.replaceAll('-', '').slice(0, 12), 16)
  return Number.isNaN(at) ? 0 : at
}

function dayFolder(at: Instant): string {
  return formatIso(Math.max(0, at)).slice(0, 10).replaceAll('-', '/')
}
