import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { count, nullable, object, parseJson, string } from '../lib/codec.ts'
import { selfArgv } from '../os/installed-files.ts'
import { type Home, homeAt } from '../state/home.ts'
import { run } from '../os/run.ts'
import { sessionId } from '../state/session-folder.ts'

/** The parts of the printed JSON that the demo uses. */
const parseStatus = object({
  id: sessionId,
  phase: string,
  pid: nullable(count),
  thread: nullable(string),
  outcome: nullable(string),
  reason: nullable(string),
})
const parseSupervisor = object({ pid: count, epoch: count })

export type SessionStatus = ReturnType<typeof parseStatus>
type SupervisorStatus = ReturnType<typeof parseSupervisor>

/** A separate home and project, in which the demo uses the real command line as a user does. */
export interface DemoSandbox {
  readonly home: Home
  readonly project: string
  oneshot(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }>
  status(name: string): Promise<SessionStatus>
  supervisor(): Promise<SupervisorStatus | undefined>
  /** Returns the pid of the tmux server that shows the sessions. */
  tmuxServer(): Promise<number>
  remove(): void
}

export function createSandbox(): DemoSandbox {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'oneshot-demo-'))
  const home = homeAt(path.join(root, 'home'))
  const project = path.join(root, 'project')
  fs.mkdirSync(project)
  // The demo ignores the user's configuration: it must send no notifications and run no hooks.
  const otherVariables = Object.entries(process.env).filter(([name]) => !name.startsWith('ONESHOT_'))
  const ownVariables = { ONESHOT_HOME: home.root, XDG_CONFIG_HOME: path.join(root, 'config'), NO_COLOR: '1' }
  const env = { ...Object.fromEntries(otherVariables), ...ownVariables }
  const oneshot = async (...args: string[]) => {
    const [node = '', main = ''] = selfArgv()
    return run(node, [main, ...args], { cwd: project, env, timeout: 60_000 })
  }
  return {
    home,
    project,
    oneshot,
    status: async name => parseJson((await oneshot('status', name, '--json')).stdout, parseStatus),
    supervisor: async () => {
      const { code, stdout } = await oneshot('daemon', 'status', '--json')
      return code === 0 ? parseJson(stdout, parseSupervisor) : undefined
    },
    tmuxServer: async () => {
      const { stdout } = await run('tmux', ['-S', home.tmuxSocket, 'list-sessions', '-F', '#{pid}'])
      return Number(stdout.split('\n')[0])
    },
    remove: () => fs.rmSync(root, { recursive: true, force: true }),
  }
}

/** Polls until there is a value; undefined after the timeout. */
export async function pollUntil<T>(poll: () => Promise<T | undefined>, timeout = 20_000): Promise<T | undefined> {
  const end = Date.now() + timeout
  for (;;) {
    const result = await poll()
    if (result !== undefined || Date.now() > end) return result
    await pause(50)
  }
}
