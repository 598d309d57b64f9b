import { spawn } from 'node:child_process'
import { killGroup } from './kill-group.ts'

/** How long output may go on after the program has ended, in milliseconds. */
const LAST_WORDS = 1_000

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: Uint8Array
  /** Milliseconds after which the program is killed. */
  readonly timeout?: number
  /** Kills the program with all that is in its process group, which is its own then. */
  readonly signal?: AbortSignal
  /** A program that writes more bytes than this is killed: it may never end. */
  readonly most?: number
}

export interface RunResult {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. A non-zero exit is an answer, not an error; only a program that cannot be started throws. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { signal: ending, most = Number.POSITIVE_INFINITY } = options
  return new Promise((resolve, reject) => {
    if (ending?.aborted) return reject(new Error('there was no time left for it'))
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      detached: ending !== undefined,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    const kill = (): void => (ending === undefined ? void child.kill('SIGKILL') : killGroup(child.pid))
    const timer = options.timeout === undefined ? undefined : setTimeout(kill, options.timeout)
    ending?.addEventListener('abort', kill)
    let size = 0
    const keep = (chunks: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length
      if (size > most) return kill()
      chunks.push(chunk)
    }
    child.stdout?.on('data', keep(stdout))
    child.stderr?.on('data', keep(stderr))
    const leave = (): void => {
      clearTimeout(timer)
      ending?.removeEventListener('abort', kill)
    }
    child.on('error', cause => {
      leave()
      reject(cause)
    })
    const answer = (code: number | null, signal: string | null): void => {
      leave()
      resolve({ code, signal, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() })
    }
    child.on('close', answer)
    // What it left running may hold its output open for ever; what it said itself has arrived by then.
    child.on('exit', (code, signal) => {
      setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
        answer(code, signal)
      }, LAST_WORDS).unref()
    })
    child.stdin?.on('error', () => undefined) // It ended without reading its input; its exit tells the rest.
    child.stdin?.end(options.input)
  })
}
