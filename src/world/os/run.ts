import { spawn } from 'node:child_process'
import { killGroup } from './kill-group.ts'

/** How long output may go on after the program has ended, in milliseconds. */
const LAST_WORDS = 1_000

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string | Uint8Array
  /** Milliseconds after which the program is killed. */
  readonly timeout?: number
  /** Kills the program, and whatever it has started and not sent away. */
  readonly signal?: AbortSignal
  /** Milliseconds that it is given to tidy up before `signal` kills it. */
  readonly grace?: number
  /** A program that writes more bytes than this is killed: it may never end. */
  readonly most?: number
}

export interface RunResult<Output = string> {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: Output
  readonly stderr: string
}

/** Runs a program to its end. A non-zero exit is an answer, not an error; only a program that cannot be started throws. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const result = await runForBytes(program, args, options)
  return { ...result, stdout: result.stdout.toString() }
}

/** The same, for a program whose output need not be text. */
export function runForBytes(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult<Buffer>> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      detached: options.signal !== undefined,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    const timer = options.timeout === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), options.timeout)
    let last: NodeJS.Timeout | undefined
    const kill = (): void => {
      killGroup(child.pid, options.grace === undefined ? 'SIGKILL' : 'SIGTERM')
      if (options.grace !== undefined) last = setTimeout(() => killGroup(child.pid), options.grace)
    }
    if (options.signal?.aborted) kill()
    options.signal?.addEventListener('abort', kill)
    const settle = (): void => {
      clearTimeout(timer)
      clearTimeout(last)
      options.signal?.removeEventListener('abort', kill)
    }
    let size = 0
    const keep = (chunks: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length
      if (size <= (options.most ?? Number.POSITIVE_INFINITY)) chunks.push(chunk)
      else if (options.signal === undefined) child.kill('SIGKILL')
      else killGroup(child.pid)
    }
    child.stdout?.on('data', keep(stdout))
    child.stderr?.on('data', keep(stderr))
    child.on('error', cause => {
      settle()
      reject(cause)
    })
    const answer = (code: number | null, signal: string | null): void => {
      settle()
      resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() })
    }
    child.on('close', answer)
    // What it left running may hold its output open for ever; what it said itself has arrived by then. Only after another
    // look at the pipes: when we were kept from working ourselves, the time is over before anything was read.
    child.on('exit', (code, signal) => {
      const giveUp = (): void => {
        if (options.signal?.aborted) killGroup(child.pid)
        child.stdout?.destroy()
        child.stderr?.destroy()
        answer(code, signal)
      }
      setTimeout(() => setImmediate(giveUp), LAST_WORDS).unref()
    })
    child.stdin?.on('error', () => undefined) // It ended without reading its input; its exit tells the rest.
    child.stdin?.end(options.input)
  })
}
