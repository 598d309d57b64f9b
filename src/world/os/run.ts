import { spawn } from 'node:child_process'

/** How long output may go on after the program has ended, in milliseconds. */
const LAST_WORDS = 1_000

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: Uint8Array
  /** Milliseconds after which the program is killed. */
  readonly timeout?: number
}

export interface RunResult {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. A non-zero exit is an answer, not an error; only a program that cannot be started throws. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    const timer = options.timeout === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), options.timeout)
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
    child.on('error', cause => {
      clearTimeout(timer)
      reject(cause)
    })
    const answer = (code: number | null, signal: string | null): void => {
      clearTimeout(timer)
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
