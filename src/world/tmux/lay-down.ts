import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { LaunchOrder } from '../../ports/work.ts'
import { replaceFile } from '../os/files.ts'
import { type AttemptFolder, attemptFolder, attemptFolderAt, attemptId, sessionFolder } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { ROOM_FOR_REQUEST } from '../os/stored-request.ts'
import { enterFile, launchFile } from './launch-file.ts'

/**
 * Puts everything a shim needs into the attempt's folder. Until it is claimed, it may be laid down again. Where a folder was
 * made ready it is filled and then given its name, so that it is there whole or not at all.
 */
export function layDown(order: LaunchOrder, home: Home): void {
  const folder = attemptFolder(home, order.sessionId, order.attempt)
  const { spare, env: saved } = sessionFolder(home, order.sessionId)
  const isReady = !fs.existsSync(folder.root) && fs.existsSync(spare)
  const place = isReady ? attemptFolderAt(spare) : folder
  if (!isReady) makeFolder(folder)
  const put = isReady ? fs.writeFileSync : replaceFile
  // Laid down again, it stays: a shim may have begun to read it this very moment, and what it read can be looked up.
  if (order.stdin !== undefined && !hasText(place.stdin)) replaceFile(place.stdin, order.stdin)
  if (order.thread !== null) linkThread(place.thread, path.join(home.threads, fileName(order.thread)))
  const marker = attemptId(order.sessionId, order.attempt)
  const ours = { ...order.env, ONESHOT_ATTEMPT: marker, ONESHOT_SESSION: order.name }
  const env = { ...savedEnv(saved), ...terminalOf(order), ...ours }
  put(place.enter, enterFile(order.argv, env))
  put(place.launch, launchFile(order, { folder, letter: path.join(home.mailbox, marker) }))
  if (isReady) fs.renameSync(spare, folder.root)
}

/** Makes the folder of a session's next attempt, with empty files in it: no record counts before its last line is there. */
export function makeSpare(home: Home, sessionId: string): void {
  const { spare } = sessionFolder(home, sessionId)
  const draft = attemptFolderAt(`${spare}.draft`)
  if (fs.existsSync(spare)) return
  makeFolder(draft)
  for (const file of [draft.launch, draft.enter, draft.started]) fs.writeFileSync(file, '', { mode: 0o600 })
  fs.renameSync(draft.root, spare)
}

function hasText(file: string): boolean {
  return (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Longer than each exit record. The shim writes over it in place, which takes no room on a full disk. */
const ROOM_FOR_EXIT = '\n'.repeat(64)

function makeFolder({ root, stdout, exit, request }: AttemptFolder): void {
  fs.mkdirSync(root, { recursive: true, mode: 0o700 })
  fs.closeSync(fs.openSync(stdout, 'a', 0o600))
  if (!hasText(exit)) fs.writeFileSync(exit, ROOM_FOR_EXIT, { mode: 0o600 })
  if (!hasText(request)) fs.writeFileSync(request, ROOM_FOR_REQUEST, { mode: 0o600 })
}

function linkThread(link: string, lock: string): void {
  fs.rmSync(link, { force: true })
  fs.symlinkSync(lock, link)
}

/** A thread's name is the agent's: it may hold anything, and be long. */
function fileName(thread: string): string {
  return /^[\w.-]{1,120}$/.test(thread) ? thread : crypto.createHash('sha256').update(thread).digest('hex')
}

/** Without the user's tmux: an agent that runs `tmux kill-server` must hit nobody, least of all its user. */
export function savedEnv(file: string): Record<string, string> {
  const saved = Object.entries(JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, string>)
  return Object.fromEntries(saved.filter(([name]) => name !== 'TMUX' && name !== 'TMUX_PANE'))
}

/** Inside tmux the terminal is tmux's, whatever the user's own was. */
function terminalOf(order: LaunchOrder): Record<string, string> {
  return order.mode === 'tty' ? { TERM: 'screen-256color' } : {}
}
