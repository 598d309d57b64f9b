import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { ThreadId } from '../../../core/session/conversation.ts'
import type { ThreadQuery, ThreadRecord } from '../../../ports/agent.ts'
import { readPart } from '../../../os/files/file-io.ts'
import { joinTextParts } from '../shared/tolerant-json.ts'
import { listNames, modifiedAt } from '../shared/tolerant-file-reads.ts'
import { type JsonObject, asObject, parseObject, asObjects, asString } from '../shared/tolerant-json.ts'

/** In bytes. The first line of a file holds the id of its thread. */
const MAX_HEADER = 4096

/**
 * Finds a thread among all files of gemini, since oneshot chose its unique id. A thread may have several files, because
 * every resume leaves one without messages behind (0.61.0).
 */
export function findThread({ thread, tag, env }: ThreadQuery): ThreadRecord | null {
  const id = thread ?? tag
  const files = findFiles(id, env)
  const records = files.map(file => extractMessages(fs.readFileSync(file, 'utf8')))
  const [messages] = records.sort((a, b) => b.length - a.length)
  return messages === undefined ? null : { thread: id, messages, writtenAt: Math.max(...files.map(modifiedAt)) }
}

function findFiles(id: ThreadId, env: ThreadQuery['env']): string[] {
  const home = env['GEMINI_CLI_HOME'] || env['HOME'] || os.homedir()
  const projects = path.join(home, '.gemini', 'tmp')
  return listNames(projects)
    .flatMap(project =>
      listNames(path.join(projects, project, 'chats')).map(name => path.join(projects, project, 'chats', name)),
    )
    .filter(file => path.basename(file).startsWith('session-') && file.endsWith(`-${id.slice(0, 8)}.jsonl`))
    .filter(file => readThreadId(file) === id)
}

function readThreadId(file: string): string {
  const [header = ''] = readPart(file, 0, MAX_HEADER).toString().split('\n', 1)
  return asString(parseObject(header)?.['sessionId'])
}

/**
 * Each message is a line, and `$set` replaces all messages: gemini removes the message of a failed turn like this. It
 * records tool output as a message of the user, but without text.
 */
function extractMessages(content: string): string[] {
  let entries: readonly JsonObject[] = []
  for (const line of content.split('\n')) {
    const entry = asObject(parseObject(line))
    const { messages } = asObject(entry['$set'])
    entries = messages === undefined ? [...entries, entry] : asObjects(messages)
  }
  return entries
    .filter(entry => entry['type'] === 'user')
    .map(entry => joinTextParts(entry['content']))
    .filter(said => said !== '' && !said.startsWith('<session_context>'))
}
