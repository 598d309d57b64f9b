import fs from 'node:fs'
import { errorMessage, isDiskFull } from '../lib/errors.ts'
import type { CliHost, InputSource, OutputTarget } from './host.ts'
import { isTerminal, ttyPath } from './terminal/tty.ts'

/** Returns the real process. Nothing else in the command line uses its variables, folder, descriptors or signals. */
export function systemHost(): CliHost {
  let commandLine: Buffer | undefined
  return {
    env: process.env,
    cwd: () => process.cwd(),
    umask: () => process.umask(),
    stdin: systemInput(),
    stdout: systemOutput(1),
    stderr: systemOutput(2),
    signals: process,
    ttyPath,
    setTitle: title => {
      // The title overwrites the command line, which may hold bytes that Node could not decode.
      if (process.argv.some(word => word.includes('\ufffd'))) commandLine = readBytes('/proc/self/cmdline')
      process.title = title
    },
    commandLine: () => commandLine ?? readBytes('/proc/self/cmdline'),
    environment: () => readBytes('/proc/self/environ'),
  }
}

function systemInput(): InputSource {
  return {
    get isTerminal() {
      return isTerminal(0)
    },
    open: () => process.stdin,
  }
}

/** Writes lines directly to the descriptor: Node's stream for a pipe takes 3 ms to load. */
function systemOutput(descriptor: 1 | 2): OutputTarget {
  return {
    get isTerminal() {
      return isTerminal(descriptor)
    },
    writeSync: bytes => fs.writeSync(descriptor, bytes),
    open: () => (descriptor === 1 ? process.stdout : process.stderr),
    fail: cause => {
      process.exitCode = 1
      if (descriptor === 1) reportWriteError(cause)
    },
  }
}

/**
 * Writes directly to the descriptor. stderr may lead to the same full disk; then only the exit code reports the
 * failure.
 */
function reportWriteError(cause: unknown): void {
  const why = isDiskFull(cause) ? 'no space left on the device' : errorMessage(cause)
  try {
    fs.writeSync(2, `error: cannot write the output: ${why}\n`)
  } catch {
    // The exit code reports it.
  }
}

function readBytes(file: string): Buffer | undefined {
  try {
    return fs.readFileSync(file)
  } catch {
    return undefined // Only Linux has it.
  }
}
