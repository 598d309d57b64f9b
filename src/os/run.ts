import { spawn } from 'node:child_process'

/** How long output may go on after the program has ended, in milliseconds. */
const OUTPUT_GRACE = 1_000

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
    let killTimer: NodeJS.Timeout | undefined
    const kill = (): void => {
      killProcessGroup(child.pid, options.grace === undefined ? 'SIGKILL' : 'SIGTERM')
      if (options.grace !== undefined) killTimer = setTimeout(() => killProcessGroup(child.pid), options.grace)
    }
    if (options.signal?.aborted) kill()
    options.signal?.addEventListener('abort', kill)
    const cleanUp = (): void => {
      clearTimeout(timer)
      clearTimeout(killTimer)
      options.signal?.removeEventListener('abort', kill)
    }
    let size = 0
    const collect = (chunks: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length
      if (size <= (options.most ?? Number.POSITIVE_INFINITY)) chunks.push(chunk)
      else if (options.signal === undefined) child.kill('SIGKILL')
      else killProcessGroup(child.pid)
    }
    child.stdout?.on('data', collect(stdout))
    child.stderr?.on('data', collect(stderr))
    child.on('error', cause => {
      cleanUp()
      reject(cause)
    })
    const finish = (code: number | null, signal: string | null): void => {
      cleanUp()
      resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() })
    }
    child.on('close', finish)
    // What it left running may hold its output open for ever; what it said itself has arrived by then. Only after another
    // look at the pipes: when we were kept from working ourselves, the time is over before anything was read.
    child.on('exit', (code, signal) => {
      const finishWithoutOutput = (): void => {
        if (options.signal?.aborted) killProcessGroup(child.pid)
        child.stdout?.destroy()
        child.stderr?.destroy()
        finish(code, signal)
      }
      setTimeout(() => setImmediate(finishWithoutOutput), OUTPUT_GRACE).unref()
    })
    child.stdin?.on('error', () => undefined) // It ended without reading its input; its exit tells the rest.
    child.stdin?.end(options.input)
  })
}

/** Kills a process, or sends it another signal, together with all that is in its group, which must be its own. */
export function killProcessGroup(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // All of it has ended meanwhile.
  }
}
