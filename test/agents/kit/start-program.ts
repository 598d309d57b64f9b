import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import type { RunResult } from '../../../src/os/run.ts'

export interface StartOptions {
  readonly argv: readonly [program: string, ...args: string[]]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly input: string
  /** Milliseconds after which the program is killed. */
  readonly timeout: number
  /** A folder for its output: a tool that outlives the program would keep a pipe open. */
  readonly records: string
}

export interface Running {
  /** Returns the output so far. */
  readonly stdout: () => string
  readonly ended: Promise<RunResult>
  /** Sends a signal to the program's process group. It does not reach tools that left the group. */
  readonly kill: (signal: NodeJS.Signals) => void
}

/** Starts a program in a process group of its own. */
export function startProgram({ argv, cwd, env, input, timeout, records }: StartOptions): Running {
  const [program, ...args] = argv
  const files = ['stdout', 'stderr'].map(name => path.join(records, name))
  const [out, err] = files.map(file => fs.openSync(file, 'a'))
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', out, err] })
  for (const fd of [out, err]) if (fd !== undefined) fs.closeSync(fd)
  // The program exited without reading its input; its exit status says the rest.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)

  const read = (place: number): string => fs.readFileSync(files[place] ?? '', 'utf8')
  const kill = (signal: NodeJS.Signals): void => killGroup(child.pid, signal)
  const timer = setTimeout(kill, timeout, 'SIGKILL')
  const ended = once(child, 'exit').then(([code, signal]: (number | string | null)[]) => {
    clearTimeout(timer)
    return { code: code as number | null, signal: signal as string | null, stdout: read(0), stderr: read(1) }
  })
  return { stdout: () => read(0), ended, kill }
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // The process has ended meanwhile.
  }
}
