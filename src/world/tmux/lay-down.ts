import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { LaunchOrder } from '../../ports/work.ts'
import { replaceFile } from '../os/files.ts'
import { attemptFolder, attemptId, sessionFolder } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { launchFile } from './launch-file.ts'

/** Puts everything a shim needs into the attempt's folder. Until it is claimed, it may be laid down again. */
export function layDown(order: LaunchOrder, home: Home): void {
  const folder = attemptFolder(home, order.sessionId, order.attempt)
  const session = sessionFolder(home, order.sessionId)
  fs.mkdirSync(folder.root, { recursive: true, mode: 0o700 })
  fs.closeSync(fs.openSync(folder.stdout, 'a', 0o600))
  if (order.stdin !== undefined) replaceFile(folder.stdin, order.stdin)
  if (order.thread !== null) linkThread(folder.thread, path.join(home.threads, fileName(order.thread)))
  const marker = attemptId(order.sessionId, order.attempt)
  const ours = { ...order.env, ONESHOT_ATTEMPT: marker, ONESHOT_SESSION: order.name }
  const env = { ...savedEnv(session.env), ...terminalOf(order), ...ours }
  replaceFile(folder.launch, launchFile(order, { folder, letter: path.join(home.mailbox, marker), env }))
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
