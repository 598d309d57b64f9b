import fs from 'node:fs'
import path from 'node:path'
import type { ThreadPlace, ThreadRecord } from '../../../ports/agent.ts'
import { readPart } from '../../os/files.ts'
import { wordsIn } from '../content.ts'
import { namesIn, realPath, writtenAt } from '../disk.ts'
import { eventIn, json, text } from '../json.ts'
import { type PiPlace, threadFile, threadFolder, usualFolder } from './folder.ts'
import { messageIn } from './message.ts'

/** The first line of a thread's file holds its id and working directory. */
const LONGEST_HEADER = 8192

/** Looks up a thread. There is none before its first complete answer: pi writes nothing down until then. */
export function find(place: ThreadPlace): ThreadRecord | null {
  const file = findFile(place, place)
  return file === null ? null : recordIn(file)
}

/** The file of a thread: the one we named, else the one with that id among the threads of this working directory. */
export function findFile(place: PiPlace, { tag, thread }: { tag: string; thread: string | null }): string | null {
  const ours = threadFile(place, tag)
  if (headerOf(ours) !== null) return ours
  if (thread === null) return null
  const cwd = realPath(place.cwd)
  return (
    [threadFolder(place), usualFolder(place)].flatMap(filesIn).find(file => {
      const header = headerOf(file)
      // pi works where the thread was begun: one from elsewhere is none of ours.
      return header?.id === thread && header.cwd === cwd
    }) ?? null
  )
}

function filesIn(folder: string): string[] {
  return namesIn(folder)
    .filter(name => name.endsWith('.jsonl'))
    .map(name => path.join(folder, name))
}

function headerOf(file: string): { id: string; cwd: string } | null {
  const [line = ''] = readPart(file, 0, LONGEST_HEADER).toString().split('\n', 1)
  const { type, id, cwd } = json(eventIn(line))
  return type === 'session' && text(id) !== '' ? { id: text(id), cwd: text(cwd) } : null
}

function recordIn(file: string): ThreadRecord | null {
  const [header = '', ...entries] = fs.readFileSync(file, 'utf8').split('\n')
  const thread = text(eventIn(header)?.['id'])
  return thread === '' ? null : { thread, messages: entries.flatMap(messagesIn), writtenAt: writtenAt(file) }
}

/** pi adds entries and takes none away: also what was summed up or branched off is still there, in order. */
function messagesIn(entry: string): string[] {
  if (!entry.includes('"role":"user"')) return [] // Spares parsing what tools gave back, which is most of a thread.
  const event = eventIn(entry)
  if (event?.type !== 'message') return []
  const message = messageIn(event['message'])
  return message.role === 'user' ? [wordsIn(message.content)] : []
}
