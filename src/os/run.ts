import { spawn } from 'node:child_process'
import { endGroupOnSignal } from './process/end-on-signal.ts'

/** Milliseconds that `run` waits for the end of the output after the program has exited. */
const OUTPUT_GRACE = 1_000

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string | Uint8Array
  /** Milliseconds after which `run` kills the program. */
  readonly timeout?: number
  /** An abort kills the program and the processes in its group, and so does a signal that ends this process. */
  readonly signal?: AbortSignal
  /** Milliseconds between SIGTERM and SIGKILL after an abort; without it an abort sends SIGKILL at once. */
  readonly grace?: number
  /** Maximum bytes of output. `run` kills a program that writes more: it may never end. */
  readonly most?: number
}

export interface RunResult<Output = string> {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: Output
  readonly stderr: string
}

/** Runs a program to its end. Returns also on a non-zero exit; throws only if the program cannot be started. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const result = await runForBytes(program, args, options)
  return { ...result, stdout: result.stdout.toString() }
}

/** Like `run`, for a program whose output need not be text. */
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
    const unregister = options.signal === undefined || child.pid === undefined ? undefined : endGroupOnSignal(child.pid)
    if (options.signal?.aborted) kill()
    options.signal?.addEventListener('abort', kill)
    const cleanUp = (): void => {
      clearTimeout(timer)
      clearTimeout(killTimer)
      unregister?.()
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
    // A background process may hold the output open for ever; by then the program's own output has arrived.
    // setImmediate reads the pipes once more first: if the event loop was blocked, the time is over before anything was
    // read.
    child.on('exit', (code, signal) => {
      const finishWithoutOutput = (): void => {
        if (options.signal?.aborted) killProcessGroup(child.pid)
        child.stdout?.destroy()
        child.stderr?.destroy()
        finish(code, signal)
      }
      setTimeout(() => setImmediate(finishWithoutOutput), OUTPUT_GRACE).unref()
    })
    // The program exited without reading its input; its exit status says the rest.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(options.input)
  })
}

/** Sends a signal, by default SIGKILL, to a process and its process group, which the process must lead. */
export function killProcessGroup(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The whole group has ended meanwhile.
  }
}
