import fs from 'node:fs'
import path from 'node:path'
import { type ThreadId, isThreadId } from '../../../core/session/conversation.ts'
import type { ThreadQuery, ThreadRecord } from '../../../ports/agent.ts'
import { readPart } from '../../../os/files/file-io.ts'
import { asObject, asString, joinTextBlocks, parseEvent } from '../shared/tolerant-json.ts'
import { listNames, modifiedAt, readJsonFile, realPath } from '../shared/tolerant-file-reads.ts'
import { parseMessage } from './parse-output.ts'
import os from 'node:os'

/** In bytes. The first line of a thread's file holds its id and working directory. */
const MAX_HEADER = 8192

/** Finds a thread. It has no record before its first complete answer: pi saves nothing until then. */
export function findThread(query: ThreadQuery): ThreadRecord | null {
  const file = findThreadFile(query, query)
  return file === null ? null : readRecord(file)
}

/**
 * Returns the file of a thread: the file that oneshot named, else the file with that id in this working directory's
 * folder.
 */
export function findThreadFile(
  context: PiContext,
  { tag, thread }: { tag: ThreadId; thread: ThreadId | null },
): string | null {
  const ownFile = ownThreadFile(context, tag)
  if (readHeader(ownFile) !== null) return ownFile
  if (thread === null) return null
  const cwd = realPath(context.cwd)
  return (
    [threadFolder(context), defaultThreadFolder(context)].flatMap(listThreadFiles).find(file => {
      const header = readHeader(file)
      // pi works where the thread began, so a thread from another folder is not ours.
      return header?.id === thread && header.cwd === cwd
    }) ?? null
  )
}

function listThreadFiles(folder: string): string[] {
  return listNames(folder)
    .filter(name => name.endsWith('.jsonl'))
    .map(name => path.join(folder, name))
}

function readHeader(file: string): { id: string; cwd: string } | null {
  const [line = ''] = readPart(file, 0, MAX_HEADER).toString().split('\n', 1)
  const { type, id, cwd } = asObject(parseEvent(line))
  return type === 'session' && asString(id) !== '' ? { id: asString(id), cwd: asString(cwd) } : null
}

function readRecord(file: string): ThreadRecord | null {
  const [header = '', ...entries] = fs.readFileSync(file, 'utf8').split('\n')
  const thread = asString(parseEvent(header)?.['id'])
  return !isThreadId(thread)
    ? null
    : { thread, messages: entries.flatMap(extractMessages), writtenAt: modifiedAt(file) }
}

/** pi appends entries and removes none: compacted and branched-off messages are still there, in order. */
function extractMessages(entry: string): string[] {
  if (!entry.includes('"role":"user"')) return [] // This check avoids parsing tool output, which is most of a thread.
  const event = parseEvent(entry)
  if (event?.type !== 'message') return []
  const message = parseMessage(event['message'])
  return message.role === 'user' ? [joinTextBlocks(message.content)] : []
}

/**
 * The working directory and environment of pi. pi asks the kernel for its folder and gets it without symbolic links.
 */
export interface PiContext {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Returns the file in which pi stores a thread of ours: it lies among pi's own, so that `pi --resume` shows it too. */
export function ownThreadFile(context: PiContext, tag: ThreadId): string {
  return path.join(threadFolder(context), `${tag}.jsonl`)
}

/**
 * Returns the folder in which pi 0.73 and 0.87 store the threads of a working directory: from the environment, the
 * settings or the default.
 */
function threadFolder(context: PiContext): string {
  const cwd = realPath(context.cwd)
  const configured = context.env['PI_CODING_AGENT_SESSION_DIR'] || folderFromSettings(context, cwd)
  return configured === '' ? defaultThreadFolder(context) : path.resolve(cwd, expandHome(configured, context))
}

function defaultThreadFolder(context: PiContext): string {
  const name = realPath(context.cwd)
    .replace(/^\//, '')
    .replace(/[/\\:]/g, '-')
  return path.join(agentFolder(context), 'sessions', `--${name}--`)
}

/** Settings of the project precede those of the user. */
function folderFromSettings(context: PiContext, cwd: string): string {
  const files = [path.join(cwd, '.pi', 'settings.json'), path.join(agentFolder(context), 'settings.json')]
  return files.map(readSessionDir).find(configured => configured !== '') ?? ''
}

function readSessionDir(file: string): string {
  return asString(readJsonFile(file)?.['sessionDir'])
}

function agentFolder(context: PiContext): string {
  const configured = context.env['PI_CODING_AGENT_DIR'] ?? ''
  return configured === ''
    ? path.join(homeFolder(context), '.pi', 'agent')
    : path.resolve(context.cwd, expandHome(configured, context))
}

function expandHome(folder: string, context: PiContext): string {
  return folder === '~' || folder.startsWith('~/') ? path.join(homeFolder(context), folder.slice(1)) : folder
}

function homeFolder({ env }: PiContext): string {
  return env['HOME'] || os.homedir()
}
