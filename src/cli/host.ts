/**
 * The process around a command line: its variables, folder, descriptors and signals. `main.ts` passes the real one, and
 * tests pass one in memory.
 */
export interface CliHost {
  readonly env: NodeJS.ProcessEnv
  /** Returns the working directory. Throws if another program has removed it. */
  readonly cwd: () => string
  readonly umask: () => number
  readonly stdin: InputSource
  readonly stdout: OutputTarget
  readonly stderr: OutputTarget
  readonly signals: SignalSource
  /** Returns the path of the terminal that stdin, stderr or stdout leads to. */
  readonly ttyPath: () => string | undefined
  /** Replaces the command line that other users of the machine can read. */
  readonly setTitle: (title: string) => void
  /** Returns the bytes of the command line at the start, if the kernel has them; Node loses those that are not UTF-8. */
  readonly commandLine: () => Buffer | undefined
  /** Returns the bytes of the environment at the start, if the kernel has them. */
  readonly environment: () => Buffer | undefined
}

export interface InputSource {
  readonly isTerminal: boolean
  open(): NodeJS.ReadableStream
}

export interface OutputTarget {
  readonly isTerminal: boolean
  /** Writes at once and returns the number of written bytes. Throws EAGAIN when a pipe is full. */
  writeSync(bytes: Uint8Array): number
  /** Returns the stream behind it, for bytes that have to wait, and for the size of a terminal. */
  open(): NodeJS.WritableStream & { readonly columns?: number; readonly rows?: number }
  /** Takes the first failed write other than that of a reader which has exited, such as on a full disk. */
  fail(cause: unknown): void
}

/** The signals of the process, such as Ctrl-C. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown
  off(signal: NodeJS.Signals, listener: () => void): unknown
}
