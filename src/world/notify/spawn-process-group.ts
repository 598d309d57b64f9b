import { spawn } from 'node:child_process'
import { killProcessGroup } from '../../os/run.ts'
import { errorMessage } from '../../lib/errors.ts'
import { which } from '../../os/which.ts'

/** Bytes of a program's output that are kept; its end says most. */
const MAX_OUTPUT_SIZE = 65_536
/** Milliseconds that output may continue after the program has ended: it may have left a process running. */
const OUTPUT_GRACE = 1_000

export interface ProgramResult {
  readonly code: number | null
  readonly signal: string | null
  /** The end of stdout and stderr together. */
  readonly output: Buffer
}

/**
 * Runs a program to its end, in a process group of its own; the signal kills the whole group. Throws only if the
 * program cannot be started. Spawns it before this function returns.
 */
export function runProgram(
  argv: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string; input: string; signal: AbortSignal },
): Promise<ProgramResult> {
  const { signal } = options
  const [program = '', ...args] = argv
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error('there was no time left for it'))
    const child = spawn(program, args, { cwd: options.cwd ?? '/', env: options.env, detached: true, stdio: 'pipe' })
    const kill = (): void => killProcessGroup(child.pid)
    signal.addEventListener('abort', kill)
    let output = Buffer.alloc(0)
    const collect = (chunk: Buffer): void => {
      output = Buffer.concat([output, chunk]).subarray(-MAX_OUTPUT_SIZE)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    // The program exited without reading its input; its exit status says the rest.
    child.stdin.on('error', () => undefined)
    child.on('error', cause => {
      signal.removeEventListener('abort', kill)
      reject(cause)
    })
    const finish = (code: number | null, by: string | null): void => {
      signal.removeEventListener('abort', kill)
      resolve({ code, signal: by, output })
    }
    child.on('close', finish)
    child.on('exit', (code, by) => {
      setTimeout(() => {
        child.stdout.destroy()
        child.stderr.destroy()
        finish(code, by)
      }, OUTPUT_GRACE).unref()
    })
    child.stdin.end(options.input)
  })
}

/** Describes the exit in words; after a failure, with the last line of output. */
export function describeResult({ code, signal, output }: ProgramResult): string {
  const how = code === null ? `killed by ${signal}` : `exit code ${code}`
  const last = output.toString().trimEnd().split('\n').at(-1)?.trim() ?? ''
  return code === 0 || last === '' ? how : `${how}: ${last.slice(0, 300)}`
}

/** Writes input to a program found on PATH. Throws unless it exits with 0. */
export async function pipeToProgram(
  argv: readonly string[],
  options: { env: NodeJS.ProcessEnv; input?: string; signal: AbortSignal },
): Promise<void> {
  const [name = '', ...args] = argv
  const program = which(name, options.env, '/')
  if (program === undefined) throw new Error(`${name} is not on the supervisor's PATH`)
  const { env, input = '', signal } = options
  const result = await runProgram([program, ...args], { env, input, signal }).catch(cause => {
    throw new Error(`${name} could not be started: ${errorMessage(cause)}`)
  })
  if (result.code !== 0) throw new Error(`${name}: ${describeResult(result)}`)
}
