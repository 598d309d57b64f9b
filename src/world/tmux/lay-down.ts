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
  for (const file of [folder.stdout, folder.stderr]) fs.closeSync(fs.openSync(file, 'a', 0o600))
  if (order.stdin === 'prompt') {
    fs.rmSync(folder.stdin, { force: true })
    fs.linkSync(session.prompt, folder.stdin)
  } else if (order.stdin !== undefined) {
    replaceFile(folder.stdin, order.stdin)
  }
  const marker = attemptId(order.sessionId, order.attempt)
  const ours = { ...order.env, ONESHOT_ATTEMPT: marker, ONESHOT_SESSION: order.name }
  const env = { ...savedEnv(session.env), ...terminalOf(order), ...ours }
  replaceFile(folder.launch, launchFile(order, { folder, letter: path.join(home.mailbox, marker), env }))
}

/** Without the user's tmux: an agent that runs `tmux kill-server` must hit nobody, least of all its user. */
function savedEnv(file: string): Record<string, string> {
  const saved = Object.entries(JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, string>)
  return Object.fromEntries(saved.filter(([name]) => name !== 'TMUX' && name !== 'TMUX_PANE'))
}

/** Inside tmux the terminal is tmux's, whatever the user's own was. */
function terminalOf(order: LaunchOrder): Record<string, string> {
  return order.mode === 'tty' ? { TERM: 'screen-256color' } : {}
}
