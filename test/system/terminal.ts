import fs from 'node:fs'
import path from 'node:path'
import { run } from '../../src/os/run.ts'
import { binFolder } from './bin-folder.ts'
import { type TestHome, waitUntil } from './test-home.ts'

/**
 * A user at a terminal in the project: types, presses keys and reads the screen. It is a pane of a separate tmux
 * server.
 */
export class Terminal {
  readonly #socket: string
  readonly #env: NodeJS.ProcessEnv

  private constructor(testHome: TestHome, env: NodeJS.ProcessEnv) {
    this.#socket = path.join(testHome.root, 'user.sock')
    this.#env = env
  }

  static async open(testHome: TestHome, shell: readonly string[] = ['sh']): Promise<Terminal> {
    const profile = path.join(testHome.root, 'profile')
    fs.writeFileSync(profile, "PS1='> '\n") // dash does not take root's prompt from the environment.
    const search = `${binFolder(testHome)}:${testHome.env['PATH']}`
    const env = { ...testHome.env, PATH: search, ENV: profile, TERM: 'screen-256color' }
    const terminal = new Terminal(testHome, env)
    testHome.defer(() => terminal.#tmux('kill-server'))
    await terminal.#tmux('new-session', '-d', '-x', '100', '-y', '40', '-c', testHome.project, ...shell)
    await terminal.shows(/\S/)
    return terminal
  }

  /** Types a line and presses Enter. */
  async enter(line: string): Promise<void> {
    await this.#tmux('send-keys', '-l', line)
    await this.press('Enter')
  }

  async press(...keys: string[]): Promise<void> {
    await this.#tmux('send-keys', ...keys)
  }

  /** Waits until the screen shows this. Returns the whole screen. */
  shows(what: string | RegExp): Promise<string> {
    let screen = ''
    return waitUntil(`the screen shows ${what}`, async () => {
      screen = await this.screen()
      const isThere = typeof what === 'string' ? screen.includes(what) : what.test(screen)
      return isThere ? screen : undefined
    }).catch(cause => {
      throw new Error(`${cause.message}; it shows:\n${screen}`)
    })
  }

  /** Returns the screen, with colours as escape sequences on request. */
  async screen(options: { colours?: boolean } = {}): Promise<string> {
    return (await this.#tmux('capture-pane', '-p', ...(options.colours ? ['-e'] : []))).trimEnd()
  }

  /** Returns true if the terminal's bell rang. */
  async hasRung(): Promise<boolean> {
    return (await this.#tmux('display-message', '-p', '#{window_bell_flag}')).trim() === '1'
  }

  async clear(): Promise<void> {
    await this.enter('clear')
    await waitUntil('the screen is clear', async () => ((await this.screen()) === '>' ? true : undefined))
  }

  async #tmux(...args: string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-S', this.#socket, '-f', '/dev/null', ...args], { env: this.#env })
    return stdout
  }
}
