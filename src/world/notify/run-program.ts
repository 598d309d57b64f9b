import { spawn } from 'node:child_process'
import { killGroup } from '../os/kill-group.ts'

/** More of a program's output is not kept; the end tells most. */
const KEPT = 65_536
/** How long output may go on after the program has ended: it may have left something running. */
const LAST_WORDS = 1_000

export interface ProgramEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The end of what it wrote, stdout and stderr together. */
  readonly output: Buffer
}

/**
 * Runs a program to its end, in a process group of its own; the signal kills the whole group. Only a program that cannot be
 * started throws. It is spawned before this returns.
 */
export function runProgram(
  argv: readonly string[],
  options: { env: NodeJS.ProcessEnv; cwd?: string; input: string; signal: AbortSignal },
): Promise<ProgramEnd> {
  const { signal } = options
  const [program = '', ...args] = argv
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error('there was no time left for it'))
    const child = spawn(program, args, { cwd: options.cwd ?? '/', env: options.env, detached: true, stdio: 'pipe' })
    const kill = (): void => killGroup(child.pid)
    signal.addEventListener('abort', kill)
    let output = Buffer.alloc(0)
    const keep = (chunk: Buffer): void => {
      output = Buffer.concat([output, chunk]).subarray(-KEPT)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.stdin.on('error', () => undefined) // It ended without reading its input; its exit tells the rest.
    child.on('error', cause => {
      signal.removeEventListener('abort', kill)
      reject(cause)
    })
    const answer = (code: number | null, by: string | null): void => {
      signal.removeEventListener('abort', kill)
      resolve({ code, signal: by, output })
    }
    child.on('close', answer)
    child.on('exit', (code, by) => {
      setTimeout(() => {
        child.stdout.destroy()
        child.stderr.destroy()
        answer(code, by)
      }, LAST_WORDS).unref()
    })
    child.stdin.end(options.input)
  })
}

/** How it ended, in words, with the last thing it said when that was not well. */
export function wordsOn({ code, signal, output }: ProgramEnd): string {
  const how = code === null ? `killed by ${signal}` : `exit code ${code}`
  const last = output.toString().trimEnd().split('\n').at(-1)?.trim() ?? ''
  return code === 0 || last === '' ? how : `${how}: ${last.slice(0, 300)}`
}
