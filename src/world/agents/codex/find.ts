import fs from 'node:fs'
import type { Duration } from '../../../lib/time.ts'
import { Trouble } from '../../../lib/trouble.ts'
import type { ThreadPlace, ThreadRecord } from '../../../ports/agent.ts'
import { piecesIn } from '../content.ts'
import { realPath, writtenAt } from '../disk.ts'
import { type Json, json, jsonIn, list, text } from '../json.ts'
import { rolloutOf, rolloutsSince } from './rollouts.ts'

/** Clocks are read at both ends, and not at the same moment. */
const TOLERANCE: Duration = 5_000

/** codex's own record of a thread; without an id, the one thread that was begun here, then, and with these words. */
export function find(place: ThreadPlace): ThreadRecord | null {
  try {
    if (place.thread !== null) return named(place.thread, place.env)
    const fitting = rolloutsSince(place.since, place.env)
      .flatMap(file => fit(file, place) ?? [])
      .filter(({ thread }) => !place.others.includes(thread))
    const [only] = fitting
    return fitting.length === 1 && only !== undefined ? only : null // Of twins, neither is surely ours.
  } catch (cause) {
    throw new Trouble('looking up the thread that codex keeps', cause)
  }
}

function named(thread: string, env: ThreadPlace['env']): ThreadRecord | null {
  const file = rolloutOf(thread, env)
  if (file === null) return null
  return { thread, messages: messagesIn(fs.readFileSync(file, 'utf8')), writtenAt: writtenAt(file) }
}

function fit(file: string, { cwd, since, opening }: ThreadPlace): ThreadRecord | null {
  const content = fs.readFileSync(file, 'utf8')
  const meta = json(jsonIn(content.slice(0, content.indexOf('\n')))?.['payload'])
  const begun = Date.parse(text(meta['timestamp']))
  const isOurs = meta['source'] === 'exec' // Not a subagent's, nor one that a person began on a terminal.
  if (!isOurs || !(begun >= since - TOLERANCE) || !isSameFolder(text(meta['cwd']), cwd)) return null
  const messages = messagesIn(content)
  if (messages[0]?.trim() !== opening.trim()) return null
  return { thread: text(meta['id']), messages, writtenAt: writtenAt(file) }
}

/**
 * What people said. codex 0.166.0 writes each message down twice, as an item for the model (with a note of each image
 * before the words) and as an event; a crash may leave the first alone. Instructions, surroundings and news of
 * subagents are items of the user, too, but of other kinds; compaction repeats messages inside a record of its own.
 */
function messagesIn(content: string): string[] {
  const items: string[] = []
  const events: string[] = []
  for (const line of content.split('\n')) {
    if (!/"user\.text"|"UserMessage"|"user_message"/.test(line)) continue
    const record = jsonIn(line)
    const payload = json(record?.['payload'])
    if (record?.['type'] === 'response_item' && payload['role'] === 'user') items.push(itemText(payload))
    if (record?.['type'] === 'event_msg') events.push(...eventText(payload))
  }
  return [...events, ...items.slice(events.length)]
}

function itemText(payload: Json): string {
  const kinds = list(json(payload['internal_chat_message_metadata_passthrough'])['content_item_kinds'])
  return piecesIn(list(payload['content']).filter((_, at) => kinds[at] === 'user.text'))
}

/** `user_message` is how versions before it wrote the same. */
function eventText(payload: Json): string[] {
  if (payload['type'] === 'user_message') return [text(payload['message'])]
  const item = json(payload['item'])
  if (payload['type'] !== 'item_completed' || item['type'] !== 'UserMessage') return []
  return [piecesIn(item['content'])]
}

function isSameFolder(a: string, b: string): boolean {
  return a === b || realPath(a) === realPath(b)
}
