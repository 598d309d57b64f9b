import fs from 'node:fs'
import path from 'node:path'
import { toWire } from '../../src/api/client.ts'
import type { RunRequest } from '../../src/api/contract/run-request.ts'
import type { DaemonView, SessionView } from '../../src/api/contract/responses.ts'
import { type Home, homeAt } from '../../src/state/home.ts'
import { run } from '../../src/os/run.ts'
import { findEnded, findLive } from '../../src/views/session-search.ts'
import { processesWith } from '../measure/proc.ts'
import type { Command } from '../measure/time-command.ts'
import { waitUntil } from '../measure/wait-until.ts'
import { callApi } from './api.ts'
import type { ProductClone } from './clone.ts'

/** No figure makes more sessions in one home. */
const MAX_SESSIONS = 100_000

/** A separate home for the built product, used by command line and by API. */
export class BenchHome {
  readonly home: Home
  readonly project: string
  readonly #clone: ProductClone
  readonly env: NodeJS.ProcessEnv
  readonly #say: (sentence: string) => void
  #started = 0

  constructor(clone: ProductClone, name: string, say: (sentence: string) => void) {
    this.#clone = clone
    this.#say = say
    this.home = homeAt(path.join(clone.root, name))
    this.project = path.join(clone.root, `${name}-project`)
    this.env = { ...clone.env, ONESHOT_HOME: this.home.root }
    fs.mkdirSync(this.project)
  }

  /** Returns the product as `node dist/main.cjs`. */
  command(...args: string[]): Command {
    return { program: process.execPath, args: [this.#clone.main, ...args], env: this.env, cwd: this.project }
  }

  /** Returns the product as users start it in a clone. */
  launcher(...args: string[]): Command {
    return { program: this.#clone.launcher, args, env: this.env, cwd: this.project }
  }

  async oneshot(...args: string[]): Promise<string> {
    const { program, args: words, cwd, env } = this.command(...args)
    const { code, stdout, stderr } = await run(program, words, { cwd, env, timeout: 120_000 })
    if (code !== 0) throw new Error(`oneshot ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout
  }

  /** Starts a session without a process of its own: sends the same request as `run`. */
  start(
    argv: readonly string[],
    mode: 'headless' | 'tty' = 'headless',
    overrides: Partial<RunRequest> = {},
  ): Promise<SessionView> {
    const env = { PATH: this.env['PATH'] ?? '', ONESHOT_BENCH: this.#clone.root }
    const name = `bench-${++this.#started}`
    const work = { agent: 'command', argv, name, cwd: this.project, env, mode }
    const body = toWire({ ...work, supervision: { maxTime: null }, ...overrides })
    return callApi(this.home.daemonSocket, { method: 'POST', path: '/v1/sessions', body })
  }

  daemon(): Promise<DaemonView> {
    return callApi(this.home.daemonSocket, { method: 'GET', path: '/v1/daemon' })
  }

  /** Reads the sessions from disk, as `list` does. */
  async sessions(): Promise<SessionView[]> {
    return [...findLive(this.home), ...findEnded(this.home, {}, { limit: MAX_SESSIONS })]
  }

  ended(id: string, patience = 30_000): Promise<SessionView> {
    const look = async (): Promise<SessionView | undefined> => {
      const path = `/v1/sessions/${id}`
      const view = await callApi<SessionView>(this.home.daemonSocket, { method: 'GET', path })
      return view.phase === 'ended' ? view : undefined
    }
    return waitUntil(`session ${id} has ended`, look, { patience })
  }

  /** Removes ended sessions, so that repeated measurements do not fill the home. */
  async clean(): Promise<void> {
    const ids = (await this.sessions()).filter(session => session.phase === 'ended').map(session => session.id)
    await callApi(this.home.daemonSocket, { method: 'POST', path: '/v1/sessions/clean', body: { ids } })
  }

  /** Returns the pid of the tmux server that shows all sessions. */
  async tmuxServer(): Promise<number> {
    const args = ['-S', this.home.tmuxSocket, 'display-message', '-p', '#{pid}']
    return Number((await run('tmux', args)).stdout)
  }

  /** Retries and reports it: on a busy machine the daemon may answer slowly for hundreds of sessions at once. */
  async #tries(...args: string[]): Promise<true | undefined> {
    try {
      await this.oneshot(...args)
      return true
    } catch (cause) {
      this.#say(String(cause))
      return undefined
    }
  }

  async open(): Promise<this> {
    await this.oneshot('daemon', 'start')
    return this
  }

  async close(): Promise<void> {
    await waitUntil('all sessions are stopped', () => this.#tries('killall', '--yes'), {
      patience: 60_000,
      every: 1_000,
    })
    await this.oneshot('daemon', 'stop')
    await waitUntil('nothing of the house is running', () => {
      return processesWith(`${this.home.root}/`).length === 0 ? true : undefined
    })
  }
}
