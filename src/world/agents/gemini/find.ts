import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { ThreadPlace, ThreadRecord } from '../../../ports/agent.ts'
import { readPart } from '../../os/files.ts'
import { piecesIn } from '../content.ts'
import { namesIn, writtenAt } from '../disk.ts'
import { type Json, json, jsonIn, jsons, text } from '../json.ts'

/** The first line of a file holds the id of its thread. */
const LONGEST_HEADER = 4096

/**
 * Looks up a thread among all that gemini keeps: the id is of our choosing and found nowhere else. A thread may have several
 * files, for every resumption leaves one behind in which nothing is said (0.61.0).
 */
export function find({ thread, tag, env }: ThreadPlace): ThreadRecord | null {
  const id = thread ?? tag
  const files = filesOf(id, env)
  const records = files.map(file => messagesIn(fs.readFileSync(file, 'utf8')))
  const [messages] = records.sort((a, b) => b.length - a.length)
  return messages === undefined ? null : { thread: id, messages, writtenAt: Math.max(...files.map(writtenAt)) }
}

function filesOf(id: string, env: ThreadPlace['env']): string[] {
  const home = env['GEMINI_CLI_HOME'] || env['HOME'] || os.homedir()
  const projects = path.join(home, '.gemini', 'tmp')
  return namesIn(projects)
    .flatMap(project =>
      namesIn(path.join(projects, project, 'chats')).map(name => path.join(projects, project, 'chats', name)),
    )
    .filter(file => path.basename(file).startsWith('session-') && file.endsWith(`-${id.slice(0, 8)}.jsonl`))
    .filter(file => idIn(file) === id)
}

function idIn(file: string): string {
  const [header = ''] = readPart(file, 0, LONGEST_HEADER).toString().split('\n', 1)
  return text(jsonIn(header)?.['sessionId'])
}

/**
 * Each message is a line of its own, and `$set` replaces all of them: so a message is taken back whose turn has failed. What
 * tools gave back is written as if the user had said it, but is no text.
 */
function messagesIn(content: string): string[] {
  let entries: readonly Json[] = []
  for (const line of content.split('\n')) {
    const entry = json(jsonIn(line))
    const { messages } = json(entry['$set'])
    entries = messages === undefined ? [...entries, entry] : jsons(messages)
  }
  return entries
    .filter(entry => entry['type'] === 'user')
    .map(entry => piecesIn(entry['content']))
    .filter(said => said !== '' && !said.startsWith('<session_context>'))
}
