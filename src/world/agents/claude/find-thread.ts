import fs from 'node:fs'
import path from 'node:path'
import type { ThreadId } from '../../../core/session/conversation.ts'
import { hasCode } from '../../../lib/errors.ts'
import type { ThreadQuery, ThreadRecord } from '../../../ports/agent.ts'
import { listNames, modifiedAt, realPath } from '../shared/tolerant-file-reads.ts'
import os from 'node:os'
import { type JsonObject, asObject, asObjects, asString, joinTextBlocks, parseObject } from '../shared/tolerant-json.ts'

/** Finds a thread by the id that the program reported, or by the id that oneshot chose. */
export function findThread(query: ThreadQuery): ThreadRecord | null {
  const threads = query.thread === null || query.thread === query.tag ? [query.tag] : [query.thread, query.tag]
  for (const thread of threads) {
    const record = findRecord(query, thread)
    if (record !== null) return { thread, messages: extractPrompts(record.bytes), writtenAt: modifiedAt(record.file) }
  }
  return null
}

/**
 * Claude Code stores a thread in the folder of its working directory. If the thread began in a worktree that claude
 * made, the file lies in another project's folder.
 */
function findRecord({ env, cwd }: ThreadQuery, thread: ThreadId): RecordFile | null {
  const name = `${thread}.jsonl`
  const usual = readRecord(path.join(projectFolder(env, cwd), name))
  if (usual !== null) return usual
  const projects = path.join(configFolder(env), 'projects')
  for (const project of listNames(projects)) {
    const elsewhere = readRecord(path.join(projects, project, name))
    if (elsewhere !== null) return elsewhere
  }
  return null
}

interface RecordFile {
  readonly file: string
  readonly bytes: Buffer
}

function readRecord(file: string): RecordFile | null {
  try {
    return { file, bytes: fs.readFileSync(file) }
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return null
    throw cause
  }
}

/** Returns the folder in which claude stores its settings and its threads. */
export function configFolder(env: Readonly<Record<string, string>>): string {
  return env['CLAUDE_CONFIG_DIR'] || path.join(env['HOME'] || os.homedir(), '.claude')
}

/**
 * Returns the folder with the threads of a working directory. Claude Code resolves symbolic links and replaces every
 * character except letters and digits by a dash.
 */
export function projectFolder(env: Readonly<Record<string, string>>, cwd: string): string {
  const real = realPath(cwd).normalize('NFC')
  const name = real.replace(/[^a-zA-Z0-9]/g, '-')
  const short = name.length <= MAX_FOLDER_NAME ? name : `${name.slice(0, MAX_FOLDER_NAME)}-${checksum(real)}`
  return path.join(configFolder(env), 'projects', short)
}

/** Claude Code cuts a longer name (in characters) and adds a checksum. */
const MAX_FOLDER_NAME = 200

function checksum(text: string): string {
  let sum = 0
  for (let index = 0; index < text.length; index++) sum = ((sum << 5) - sum + text.charCodeAt(index)) | 0
  return Math.abs(sum).toString(36)
}

const USER_MARK = '"type":"user"'
const NEWLINE = 10

/**
 * Returns the messages of people in a thread, in order. It decodes only the lines that may hold one: most of a thread
 * is tool output and copies of what the program sent to the model. It leaves out an incomplete last line.
 */
export function extractPrompts(bytes: Buffer): string[] {
  const prompts: string[] = []
  const seen = new Set<string>()
  let end = 0
  for (let at = bytes.indexOf(USER_MARK); at >= 0; at = bytes.indexOf(USER_MARK, end)) {
    const start = bytes.lastIndexOf(NEWLINE, at) + 1
    const next = bytes.indexOf(NEWLINE, at)
    end = next < 0 ? bytes.length : next
    const line = parseObject(bytes.toString('utf8', start, end))
    if (line === null || !isPrompt(line) || seen.has(asString(line['uuid']))) continue
    if (asString(line['uuid']) !== '') seen.add(asString(line['uuid']))
    prompts.push(typedText(promptOf(line)))
  }
  return prompts
}

function isPrompt(line: JsonObject): boolean {
  if (line['type'] !== 'user' || line['isSidechain'] === true) return false
  if (line['isMeta'] === true || line['isCompactSummary'] === true) return false
  // A finished task speaks as the user: Claude Code 2.1.197 marks it only by its origin.
  const { kind } = asObject(line['origin'])
  if ((kind !== undefined && kind !== 'human') || line['promptSource'] === 'system') return false
  if (asObjects(asObject(line['message'])['content']).some(block => block['type'] === 'tool_result')) return false
  // A text that nobody typed has no `promptSource`, but commands have none either.
  return line['promptSource'] !== undefined || !NOTE_PATTERN.test(promptOf(line))
}

const NOTE_PATTERN = /^\s*(?:\[Request interrupted by user|<local-command-|<bash-std)/

function promptOf(line: JsonObject): string {
  return joinTextBlocks(asObject(line['message'])['content'])
}

/**
 * Claude Code stores a command as its parts: `<command-name>/review</command-name>… <command-args>main</command-args>`.
 */
function typedText(prompt: string): string {
  if (!/^\s*<command-(?:name|message)>/.test(prompt)) return prompt
  const name = textBetween(prompt, '<command-name>', '</command-name>', 'first')
  const args = textBetween(prompt, '<command-args>', '</command-args>', 'last') ?? ''
  return name === undefined ? prompt : `${name} ${args}`.trimEnd()
}

/** Uses plain searches, because the time of a regular expression would grow with the square of the number of marks. */
function textBetween(text: string, begin: string, end: string, which: 'first' | 'last'): string | undefined {
  const at = text.indexOf(begin)
  const from = at + begin.length
  const to = which === 'first' ? text.indexOf(end, from) : text.lastIndexOf(end)
  return at < 0 || to < from ? undefined : text.slice(from, to)
}
