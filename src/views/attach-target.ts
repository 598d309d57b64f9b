import type { SessionView } from '../api/contract/session-view.ts'
import { terminalSocket } from '../world/os/folders.ts'
import type { Home } from '../world/os/home.ts'

/** Where tmux shows the session: a terminal on the server that owns it, everything else on the shared one. */
export function attachTarget(home: Home, session: SessionView): { socket: string; session: string } {
  const socket = session.mode === 'tty' ? terminalSocket(home, session.id) : home.tmuxSocket
  return { socket, session: session.name }
}
