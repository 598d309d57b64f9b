import { spawn } from 'node:child_process'
import fs from 'node:fs'
import type { Command } from './time-command.ts'

/**
 * Returns the milliseconds from the call to the program's exit without blocking this process: the program may talk to
 * it. The program reads and writes files, not pipes.
 */
export async function timeProgram(
  command: Command,
  files: { stdin: string; stdout: string; stderr: string },
): Promise<{ took: number; status: number | string }> {
  const stdio = [fs.openSync(files.stdin, 'r'), fs.openSync(files.stdout, 'w'), fs.openSync(files.stderr, 'w')]
  try {
    return await new Promise((resolve, reject) => {
      const begun = performance.now()
      const child = spawn(command.program, command.args, { ...command, stdio, timeout: 120_000, killSignal: 'SIGKILL' })
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve({ took: performance.now() - begun, status: code ?? signal ?? '' }))
    })
  } finally {
    for (const fd of stdio) fs.closeSync(fd)
  }
}
