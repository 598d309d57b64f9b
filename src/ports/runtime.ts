import type { Exit, Mode, ProcessIdentity, Session } from '../core/session/session.ts'
import type { Duration, Instant } from '../lib/time.ts'

/** One attempt of one session, as the work plane knows it. */
export interface AttemptRef {
  readonly sessionId: string
  /** The session's name, which is also its pane's. */
  readonly name: string
  readonly attempt: number
  readonly mode: Mode
}

/** How the program is to be started. It travels by file; nothing of it becomes part of a shell line unquoted. */
export interface LaunchSpec extends AttemptRef {
  readonly argv: readonly string[]
  readonly cwd: string
  /** Ours is stricter than most people's, and not for the program. */
  readonly umask?: number
  /** Added to the session's saved environment. */
  readonly env: Readonly<Record<string, string>>
  /** What the program reads on stdin; undefined gives it an empty one (headless) or the terminal. */
  readonly stdin: Uint8Array | undefined
  /** Its thread, by a name of its own: nothing else may be at work in it. Null when it has none. */
  readonly thread: string | null
  /** Bytes that all its processes may use together, where the kernel can be told; null for no limit. */
  readonly memory: number | null
  /** Whether stderr goes into the same file as stdout, in the order written. */
  readonly mergeStderr: boolean
  /** What the pane shows: the session's transcript, or the program's own output. */
  readonly show: 'transcript' | 'output'
}

/** What can be seen of an attempt from outside, at this moment. */
export interface AttemptState {
  /** A shim has taken the attempt. */
  readonly isClaimed: boolean
  /** When its pane was last opened, as long as no shim has taken it. */
  readonly openedAt: Instant | null
  /** Why the shim would not start the program; null when it did not object. */
  readonly refusal: string | null
  readonly life: ProcessIdentity | null
  readonly exit: Exit | null
  /** What speaks for it that it ended for want of memory; null when nothing does. */
  readonly memory: string | null
  /** `unknown` is never taken for `dead`. */
  readonly process: 'alive' | 'dead' | 'unknown'
  readonly shim: 'alive' | 'dead' | 'unknown'
  /** The program has ended and nothing else of the attempt is left, which is certain; false when it is not known. */
  readonly isTreeEmpty: boolean
}

/** The request of a command that found no supervisor. */
export interface StoredRequest {
  readonly type: 'stop' | 'hold'
  /** The name of the session that asked; null when a person did. */
  readonly by: string | null
}

/** What an attempt has used up and written. */
export interface ProcessStats {
  /** Bytes of output so far. */
  readonly written: number
  /** Processor time of the processes that live now. */
  readonly cpu: Duration
  /** Their pids, in order. */
  readonly processes: readonly number[]
  /** Bytes of memory they hold together. */
  readonly memory: number
}

/**
 * Where attempts live. Nothing here depends on the caller staying alive: what was launched goes on by itself,
 * and writes down how it ended.
 */
export interface Runtime {
  /**
   * Lays down a session's prompt and environment, durably, before the session is accepted; and an empty transcript, when
   * it is to have one, so that whoever follows from the start looks in the right place.
   */
  prepare(
    sessionId: string,
    files: { prompt: Uint8Array | null; env: Readonly<Record<string, string>>; hasTranscript?: boolean },
  ): Promise<void>
  /** The environment that was laid down with a session. */
  readEnvironment(sessionId: string): Readonly<Record<string, string>>
  /** Changes some of it, durably, for the attempts to come. */
  changeEnvironment(sessionId: string, changes: Readonly<Record<string, string>>): Promise<void>
  /** Lays a message down, durably, before it is accepted. Number 1 is the prompt. */
  storeMessage(sessionId: string, message: number, text: Uint8Array): Promise<void>
  /** The text of a message. */
  readMessage(sessionId: string, message: number): Uint8Array
  /** What an attempt was given to read on stdin; null when it was never laid down, or was given nothing. */
  readStdin(ref: AttemptRef): Uint8Array | null
  /** The end of the transcript, at most that many bytes. */
  transcriptTail(sessionId: string, limit: number): string
  /** The end of what the attempt complained about on stderr, where that is kept apart from its output. */
  stderrTail(ref: AttemptRef): string
  /**
   * Starts the attempt, unless it was already. Calling it again after a crash, at any point, leads to exactly
   * one process. What is left of the attempt before may be made use of, but nothing of that one may be alive any more.
   */
  launch(order: LaunchSpec): Promise<void>
  attemptState(ref: AttemptRef): AttemptState
  /**
   * The request that a command stored before it ended the attempt's processes itself. A caller that has seen the end of such an
   * attempt finds the request.
   */
  request(ref: AttemptRef): StoredRequest | null
  /** The machine's present boot. A process of another one is dead. */
  readonly boot: string
  /** When the attempt was last at work, as far as its files tell; null when they tell nothing. */
  lastActiveAt(ref: AttemptRef): Instant | null
  /** Bytes that the attempt has written so far; a fraction of what the rest costs. */
  outputSize(ref: AttemptRef): number
  /** Free bytes of the disk that attempts write to; 0 when nobody knows. */
  freeSpace(): number
  /** How its processes are doing, without asking them. */
  processStats(ref: AttemptRef): Promise<ProcessStats>
  /** Whether there is a folder to work in. */
  isDirectory(path: string): boolean
  /** Whether that very process certainly lives; a fraction of what all the evidence costs. */
  isProcessAlive(life: ProcessIdentity): boolean
  /** The program's output from a byte offset on, at most `limit` bytes. */
  readOutput(ref: AttemptRef, offset: number, limit: number): Uint8Array
  /**
   * Interprets output from this offset on that may take long. `isStuck`: a supervisor before us began with it, and did not come
   * back from there.
   */
  guardReading<T>(ref: AttemptRef, offset: number, read: (isStuck: boolean) => T): T
  /** Cuts the transcript to `length` and appends; returns the new length. Repeating it leads to the same file. */
  writeTranscript(sessionId: string, length: number, text: string): number
  /** Asks the program to stop, as Ctrl-C would; once, however often it is called for this attempt. */
  interrupt(ref: AttemptRef): Promise<void>
  /** Asks the whole process tree to end. */
  terminate(ref: AttemptRef): Promise<void>
  /**
   * Ends what is left of the attempt's tree, wherever it hides; resolves when nothing is, with how many processes it had to
   * end. `force` skips asking. It never reaches a later attempt.
   */
  sweep(ref: AttemptRef, options: { force: boolean }): Promise<number>
  /** Says in one line how the session of that name is doing, to whoever looks at its pane. Never in anybody's way. */
  setStatusLine(sessionId: string, line: string): void
  /** Closes the session's panes. Nothing happens when they are closed already. */
  closePanes(ref: AttemptRef): Promise<void>
  /** Repairs what the live sessions have lost: their panes when tmux was killed, a terminal's recorder. */
  repair(live: readonly (AttemptRef & { show: LaunchSpec['show'] })[], whileLive: RunWhileLive): Promise<void>
  /** Removes a session's files. */
  removeSession(sessionId: string): Promise<void>
  /** Notes how long the attempt's log is by now, so that it can later be read from a point in time on. */
  recordLogSize(ref: AttemptRef, show: LaunchSpec['show']): void
  /** Calls back whenever a shim has news of a session, or a watched session has new output. */
  onChange(listener: (sessionId: string) => void): void
  /** From now on new output of this session is news; until `false`. */
  watchOutput(ref: AttemptRef, on: boolean): void
  /** What was rung for this attempt and those before it was heard and recorded. */
  acknowledge(ref: Pick<AttemptRef, 'sessionId' | 'attempt'>): void
  /** Stops watching. What was launched goes on. */
  shutDown(): void
}

/** Does something for a session in its turn, if it is still at work then. */
export type RunWhileLive = (sessionId: string, deed: () => Promise<void>) => Promise<void>

/** The current attempt of a session; or the one an effect was decided for. */
export function attemptRef(session: Session, attempt: number = session.attempt): AttemptRef {
  return { sessionId: session.spec.id, name: session.spec.name, attempt, mode: session.spec.mode }
}
