import type { SessionView } from '../../api/contract/responses.ts'
import { watchBoard } from '../../views/loop/read-board.ts'
import { readWorkers } from '../../views/session-search.ts'
import { sessionFolder } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { runTmux } from '../../os/run-tmux.ts'
import { isLive } from '../session/find-session.ts'

/** Shows a file as it grows, and ignores keys. */
const TAIL_COMMAND = 'trap "" INT QUIT TSTP; exec tail -n 2000 -F "$ONESHOT_SHOW"'

/**
 * Gives a loop's tmux session a window for each live worker while a user is attached. It runs in the attached command,
 * and the windows close with it. The windows only show files on disk, so nothing depends on them.
 */
export class WorkerWindows {
  readonly #home: Home
  readonly #loop: SessionView
  readonly #tmux: (...args: string[]) => Promise<string>
  readonly #stopping = new AbortController()
  readonly #syncing: Promise<void>

  constructor(home: Home, loop: SessionView, env: NodeJS.ProcessEnv) {
    this.#home = home
    this.#loop = loop
    // A missing window or server is no failure: nobody is left to look at it.
    this.#tmux = async (...args) =>
      (await runTmux({ program: 'tmux', socket: home.tmuxSocket }, args, { env, timeout: 10_000 })).stdout
    this.#syncing = this.#keepInSync().catch(() => undefined)
  }

  /** Closes the windows, unless another client is attached. */
  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#syncing
    const others = await this.#tmux('list-clients', '-t', this.#target, '-F', '#{client_tty}')
    if (others.trim() === '') await this.#sync([])
  }

  get #target(): string {
    return `=${this.#loop.name}`
  }

  async #keepInSync(): Promise<void> {
    await this.#tmux('set-option', '-t', `${this.#target}:`, '@loop', 'yes')
    let shownIds = ''
    for await (const _ of watchBoard(this.#home, this.#loop, this.#stopping.signal)) {
      const live = readWorkers(this.#home, this.#loop).filter(isLive)
      const ids = live.map(({ id }) => id).join(' ')
      if (ids !== shownIds) await this.#sync(live)
      shownIds = ids
    }
  }

  /** Opens missing windows and closes surplus ones: two clients of the same loop may both have opened one. */
  async #sync(live: readonly SessionView[]): Promise<void> {
    const windows = (await this.#tmux('list-windows', '-t', this.#target, '-F', '#{window_id} #{@worker}')).split('\n')
    const open = windows.map(row => row.split(' ')).filter(([, worker]) => worker !== undefined && worker !== '')
    const missing = new Map<string, SessionView>(live.map(worker => [worker.id, worker]))
    for (const [window = '', worker = ''] of open)
      if (!missing.delete(worker)) await this.#tmux('kill-window', '-t', window)
    for (const worker of missing.values()) await this.#open(worker)
  }

  async #open({ id, task }: SessionView): Promise<void> {
    const transcript = `ONESHOT_SHOW=${sessionFolder(this.#home, id).transcript}`
    const target = ['-d', '-t', `${this.#target}:`, '-n', task, '-e', transcript]
    const window = (await this.#tmux('new-window', ...target, '-P', '-F', '#{window_id}', TAIL_COMMAND)).trim()
    if (window !== '') await this.#tmux('set-option', '-w', '-t', window, '@worker', id)
  }
}
