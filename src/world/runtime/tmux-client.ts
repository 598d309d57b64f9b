import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../lib/errors.ts'
import { Trouble } from '../../lib/errors.ts'
import { run } from '../../os/run.ts'
import { runTmux } from '../../os/run-tmux.ts'
import { which } from '../../os/which.ts'

/** tmux 3.2 introduced -e for new-session, which keeps a session's paths out of shell lines. */
const MIN_VERSION = [3, 2] as const

/** Matches errors of a client that meets a server which is just exiting; the next client starts a new server. */
const SERVER_EXITING_ERROR = /server exited|lost server|no server running|error connecting/

/** Runs commands on tmux servers with oneshot's own sockets, never on the user's server. */
export class Tmux {
  readonly program: string
  readonly #env: NodeJS.ProcessEnv

  constructor(program: string, env: NodeJS.ProcessEnv) {
    this.program = program
    this.#env = withoutTmux(env)
  }

  /** Runs a command sequence. Throws Trouble on failure, unless `tolerate` matches tmux's error; then it returns ''. */
  async command(socket: string, config: string, args: readonly string[], tolerate?: RegExp): Promise<string> {
    const server = { program: this.program, socket, options: ['-f', config] }
    for (let attempt = 1; ; attempt++) {
      const result = await runTmux(server, args, { env: this.#env, timeout: 20_000 })
      if (result.code === 0) return result.stdout
      if (tolerate?.test(result.stderr)) return ''
      const mayRetry = attempt < 5 && SERVER_EXITING_ERROR.test(result.stderr)
      if (!mayRetry)
        throw new Trouble(`tmux ${args[0]}`, result.stderr.trim() || `it ended with ${result.code ?? result.signal}`)
      await pause(20 * attempt)
    }
  }
}

/** Finds a tmux that is new enough, or refuses and says how to install one. */
export async function findTmux(env: NodeJS.ProcessEnv): Promise<Tmux> {
  const program = which('tmux', env, '/')
  if (program === undefined) {
    throw new Refusal(
      'tmux-missing',
      'tmux is not installed, or not on the supervisor’s PATH',
      'apt-get install tmux, or: brew install tmux; if it is installed: oneshot daemon restart',
    )
  }
  const version = (await run(program, ['-V'], { timeout: 5_000 })).stdout.trim()
  const [, major, minor] = /(\d{1,9})\.(\d{1,9})/.exec(version) ?? []
  const isOld =
    major !== undefined &&
    (Number(major) < MIN_VERSION[0] || (Number(major) === MIN_VERSION[0] && Number(minor) < MIN_VERSION[1]))
  if (isOld) {
    throw new Refusal(
      'tmux-too-old',
      `tmux is too old: ${version} found, ${MIN_VERSION.join('.')} or newer needed`,
      `update ${program}`,
    )
  }
  return new Tmux(program, env)
}

function withoutTmux(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name !== 'TMUX' && name !== 'TMUX_PANE'))
}
