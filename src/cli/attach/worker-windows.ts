import type { SessionView } from '../../api/contract/session-view.ts'
import { watchBoard, workersOf } from '../../views/loops.ts'
import { readSessions } from '../../views/sessions.ts'
import { sessionFolder } from '../../world/os/folders.ts'
import type { Home } from '../../world/os/home.ts'
import { runTmux } from '../../world/os/tmux-input.ts'
import { isLive } from '../find-session.ts'

/** Shows a file as it grows, whatever keys are pressed. */
const SHOW = 'trap "" INT QUIT TSTP; exec tail -n 2000 -F "$ONESHOT_SHOW"'

/**
 * Gives a loop's tmux session a window for each of those who work for it, while somebody is attached: new ones come, ended ones go. It lives in
 * the command that is attached, and the windows end with it. What is shown is on disk, so nothing hangs on any of this.
 */
export class WorkerWindows {
  readonly #home: Home
  readonly #loop: SessionView
  readonly #tmux: (...args: string[]) => Promise<string>
  readonly #ending = new AbortController()
  readonly #tending: Promise<void>

  constructor(home: Home, loop: SessionView, env: NodeJS.ProcessEnv) {
    this.#home = home
    this.#loop = loop
    // A window or a whole server that has gone meanwhile is no trouble: there is nobody left to show it to.
    this.#tmux = async (...args) =>
      (await runTmux({ program: 'tmux', socket: home.tmuxSocket }, args, { env, timeout: 10_000 })).stdout
    this.#tending = this.#tend().catch(() => undefined)
  }

  /** Closes them, unless somebody else is looking. */
  async close(): Promise<void> {
    this.#ending.abort()
    await this.#tending
    const others = await this.#tmux('list-clients', '-t', this.#target, '-F', '#{client_tty}')
    if (others.trim() === '') await this.#settle([])
  }

  get #target(): string {
    return `=${this.#loop.name}`
  }

  async #tend(): Promise<void> {
    await this.#tmux('set-option', '-t', `${this.#target}:`, '@loop', 'yes')
    let known = ''
    for await (const _ of watchBoard(this.#home, this.#loop, this.#ending.signal)) {
      const live = workersOf(this.#loop, readSessions(this.#home)).filter(isLive)
      const ids = live.map(({ id }) => id).join(' ')
      if (ids !== known) await this.#settle(live)
      known = ids
    }
  }

  /** Opens what is missing and closes what is too much; two who look at the same loop may both have opened one. */
  async #settle(live: readonly SessionView[]): Promise<void> {
    const rows = (await this.#tmux('list-windows', '-t', this.#target, '-F', '#{window_id} #{@worker}')).split('\n')
    const open = rows.map(row => row.split(' ')).filter(([, worker]) => worker !== undefined && worker !== '')
    const wanted = new Map(live.map(worker => [worker.id, worker]))
    for (const [window = '', worker = ''] of open)
      if (!wanted.delete(worker)) await this.#tmux('kill-window', '-t', window)
    for (const worker of wanted.values()) await this.#open(worker)
  }

  async #open({ id, task }: SessionView): Promise<void> {
    const show = `ONESHOT_SHOW=${sessionFolder(this.#home, id).transcript}`
    const place = ['-d', '-t', `${this.#target}:`, '-n', task, '-e', show]
    const window = (await this.#tmux('new-window', ...place, '-P', '-F', '#{window_id}', SHOW)).trim()
    if (window !== '') await this.#tmux('set-option', '-w', '-t', window, '@worker', id)
  }
}
