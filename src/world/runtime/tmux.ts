import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../lib/errors.ts'
import { Trouble } from '../../lib/errors.ts'
import { run } from '../../os/run.ts'
import { runTmux } from '../../os/run-tmux.ts'
import { which } from '../../os/which.ts'

/** -e for new-session, which keeps a session's paths out of shell lines, came with 3.2. */
const MIN_VERSION = [3, 2] as const

/** A tmux client can meet a server that is just leaving; the next one finds a new server. */
const SERVER_EXITING_ERROR = /server exited|lost server|no server running|error connecting/

/** Speaks to tmux servers on sockets of ours. It never uses the user's own server. */
export class Tmux {
  readonly program: string
  readonly #env: NodeJS.ProcessEnv

  constructor(program: string, env: NodeJS.ProcessEnv) {
    this.program = program
    this.#env = withoutTmux(env)
  }

  /** Runs a command sequence; a failure is Trouble unless `tolerate` matches what tmux said. */
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

/** Finds a tmux that is new enough, or refuses with how to get one. */
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
