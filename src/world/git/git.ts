import { commandLine } from '../../lib/quote.ts'
import { runForBytes } from '../os/run.ts'
import { GitFailed } from './git-failed.ts'
import type { Means } from './means.ts'

export interface Call {
  readonly input?: string | Uint8Array
  /** The index to work on instead of the user's. */
  readonly index?: string
  readonly env?: Readonly<Record<string, string>>
  /** For what is written into a working tree: ours would hide it from everybody else. */
  readonly umask?: number
}

export interface Answer {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

/** For commands that would only read the user's index for attributes: that takes long, and it may be broken. */
export const NO_INDEX = '/nonexistent/index'

/** Milliseconds; on SIGTERM git removes the locks that it holds, which may be the user's. */
const GRACE = 2_000

/** Nobody else reads it, and its notes say whether it may be trusted. */
const WITHOUT_HASH = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'index.skipHash', GIT_CONFIG_VALUE_0: 'true' } as const

/** Runs git in one folder, for as long as nobody calls it off. */
export class Git {
  readonly means: Means
  readonly cwd: string
  readonly signal: AbortSignal

  constructor(means: Means, cwd: string, signal: AbortSignal) {
    this.means = means
    this.cwd = cwd
    this.signal = signal
  }

  at(cwd: string, env: Readonly<Record<string, string>> = {}): Git {
    return new Git({ ...this.means, env: { ...this.means.env, ...env } }, cwd, this.signal)
  }

  /** What it says. Throws `GitFailed` unless it ends well. */
  async run(args: readonly string[], call: Call = {}): Promise<Buffer> {
    return (await this.expect(args, call)).stdout
  }

  /** The same, with what it says aside. */
  async expect(args: readonly string[], call: Call = {}): Promise<Answer> {
    const answer = await this.ask(args, call)
    if (answer.code === 0) return answer
    throw new GitFailed(args[0] ?? '', answer)
  }

  /** The same, as one line of text. */
  async line(args: readonly string[], call: Call = {}): Promise<string> {
    return (await this.run(args, call)).toString().replace(/\n$/, '')
  }

  /** For those who take no for an answer. */
  ask(args: readonly string[], call: Call = {}): Promise<Answer> {
    const { umask } = call
    if (umask !== undefined) return this.script('umask "$1"; shift; git "$@"', [umask.toString(8), ...args], call)
    return this.#start(this.means.program, [...this.means.options, ...args], call)
  }

  /**
   * Lets a shell run several commands, each by `git COMMAND`: to start a process takes the shell a tenth of the time that it
   * takes us. Only words of our own may be in the script; all others are its arguments.
   */
  script(text: string, args: readonly string[], call: Call = {}): Promise<Answer> {
    const git = `git() { ${commandLine([this.means.program, ...this.means.options])} "$@"; }\n`
    return this.#start('/bin/sh', ['-c', git + text, 'sh', ...args], call)
  }

  async #start(program: string, args: readonly string[], call: Call): Promise<Answer> {
    const { means, cwd, signal } = this
    if (signal.aborted) throw calledOff(signal)
    const index = call.index === undefined ? {} : { GIT_INDEX_FILE: call.index, ...WITHOUT_HASH }
    const env = { ...means.env, ...index, ...call.env }
    const input = call.input === undefined ? {} : { input: call.input }
    const answer = await runForBytes(program, args, { cwd, env, signal, grace: GRACE, ...input })
    if (signal.aborted) throw calledOff(signal)
    return answer
  }
}

function calledOff(signal: AbortSignal): Error {
  const isLate = signal.reason instanceof Error && signal.reason.name === 'TimeoutError'
  return new Error(isLate ? 'git did not come to an end in time' : 'it was called off')
}
