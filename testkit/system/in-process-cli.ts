import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import path from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { CliHost, OutputTarget } from '../../src/cli/host.ts'

/** The exports of dist/program.cjs. */
type Program = typeof import('../../src/main.ts')

export interface InProcessCall {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** The bytes of stdin; none means an empty one. */
  readonly input?: Uint8Array
}

/**
 * Runs a command line of the built product in this process, with the same result as a process of its own: exit code and
 * output. It saves the start of Node. `program` is the path of `program.cjs`.
 */
export async function runInProcess(
  program: string,
  argv: readonly string[],
  { env, cwd, input }: InProcessCall,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { runOneshot } = createRequire(import.meta.url)(path.resolve(program)) as Program
  const stdout = new CapturedOutput()
  const stderr = new CapturedOutput()
  const host: CliHost = {
    env,
    cwd: () => cwd,
    umask: () => process.umask(),
    stdin: { isTerminal: false, open: () => Readable.from(input === undefined ? [] : [Buffer.from(input)]) },
    stdout,
    stderr,
    signals: new EventEmitter(),
    ttyPath: () => undefined,
    setTitle: () => undefined,
    commandLine: () => undefined,
    environment: () => undefined,
  }
  const code = await runOneshot(argv, host)
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

/** Keeps all written bytes in order. It is no terminal. */
class CapturedOutput implements OutputTarget {
  readonly isTerminal = false
  readonly #chunks: Buffer[] = []
  readonly #stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      this.#chunks.push(chunk)
      done()
    },
  })

  writeSync(bytes: Uint8Array): number {
    this.#chunks.push(Buffer.from(bytes))
    return bytes.length
  }

  open(): Writable {
    return this.#stream
  }

  fail(cause: unknown): void {
    throw cause
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}
