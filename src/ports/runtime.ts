import type { Exit, ProcessIdentity } from '../core/session/attempt.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Mode, Session } from '../core/session/session-state.ts'
import type { Duration, Instant } from '../lib/time.ts'

/** One attempt of one session, as the work plane identifies it. */
export interface AttemptRef {
  readonly sessionId: SessionId
  /** The session's name, which is also the name of its pane. */
  readonly name: string
  readonly attempt: number
  readonly mode: Mode
}

/** The way to start the program. It travels by file; no part of it enters a shell line unquoted. */
export interface LaunchSpec extends AttemptRef {
  readonly argv: readonly string[]
  readonly cwd: string
  /** The caller's umask. Ours is stricter than most, and the program must not inherit it. */
  readonly umask?: number
  /** Variables to add to the session's saved environment. */
  readonly env: Readonly<Record<string, string>>
  /** The program's stdin; undefined gives it an empty one (headless) or the terminal. */
  readonly stdin: Uint8Array | undefined
  /**
   * The unique name of its thread. A lock of this name keeps any other process out of the thread. Null if the program
   * has no thread.
   */
  readonly thread: string | null
  /** The bytes of memory that all its processes may use together, if the kernel can enforce it; null for no limit. */
  readonly memory: number | null
  /** True writes stderr to the same file as stdout, in the order of the writes. */
  readonly mergeStderr: boolean
  /** The content of the pane: the session's transcript, or the program's own output. */
  readonly show: 'transcript' | 'output'
}

/** The state of an attempt, as an outside observer sees it at this moment. */
export interface AttemptState {
  /** A shim has taken the attempt. */
  readonly isClaimed: boolean
  /** The time at which its pane was last opened, until a shim takes the attempt. */
  readonly openedAt: Instant | null
  /** The reason why the shim refused to start the program; null if it did not refuse. */
  readonly refusal: string | null
  readonly life: ProcessIdentity | null
  readonly exit: Exit | null
  /** The evidence that the attempt ran out of memory; null if there is none. */
  readonly memory: string | null
  /** Nobody may treat `unknown` as `dead`. */
  readonly process: 'alive' | 'dead' | 'unknown'
  readonly shim: 'alive' | 'dead' | 'unknown'
  /**
   * True if the program has certainly ended and no other process of the attempt is left; false if that is not known.
   */
  readonly isTreeEmpty: boolean
}

/** The request of a command that found no supervisor. */
export interface StoredRequest {
  readonly type: 'stop' | 'hold'
  /** The name of the session that asked; null if a person did. */
  readonly by: string | null
}

/** The resources that an attempt uses, and its output size. */
export interface ProcessStats {
  /** Bytes of output so far. */
  readonly written: number
  /** Processor time of all live processes. */
  readonly cpu: Duration
  /** The pids of the processes, in order. */
  readonly processes: readonly number[]
  /** Bytes of memory that the processes hold together. */
  readonly memory: number
}

/** Stores the files of sessions that the engine and the agents exchange: prompt, messages, environment, transcript. */
export interface SessionFiles {
  /**
   * Stores a session's prompt and environment durably, before oneshot accepts the session. Creates an empty transcript
   * if the session is to have one, so that a reader who follows it from the start looks in the right place.
   */
  prepare(
    sessionId: SessionId,
    files: { prompt: Uint8Array | null; env: Readonly<Record<string, string>>; hasTranscript?: boolean },
  ): Promise<void>
  /** Returns the stored environment of a session. */
  readEnvironment(sessionId: SessionId): Readonly<Record<string, string>>
  /** Changes some variables durably, for later attempts. */
  changeEnvironment(sessionId: SessionId, changes: Readonly<Record<string, string>>): Promise<void>
  /** Stores a message durably, before oneshot accepts it. Number 1 is the prompt. */
  storeMessage(sessionId: SessionId, message: number, text: Uint8Array): Promise<void>
  /** Returns the text of a message. */
  readMessage(sessionId: SessionId, message: number): Uint8Array
  /** Returns the end of the transcript, at most `limit` bytes. */
  transcriptTail(sessionId: SessionId, limit: number): string
  /**
   * Truncates the transcript to `length` and appends the text; returns the new length. A repeated call leads to the
   * same file.
   */
  writeTranscript(sessionId: SessionId, length: number, text: string): number
  /** Removes a session's files. */
  removeSession(sessionId: SessionId): Promise<void>
}

/** Shows sessions in panes. No attempt depends on a pane. */
export interface Viewer {
  /** Shows one line about the session's state in its pane. Never delays the caller. */
  setStatusLine(sessionId: SessionId, line: string): void
  /** Closes the session's panes. A repeated call does nothing. */
  closePanes(ref: AttemptRef): Promise<void>
  /** Repairs the live sessions: opens their panes again after a kill of tmux, and restarts a terminal's recorder. */
  repair(live: readonly (AttemptRef & { show: LaunchSpec['show'] })[], whileLive: RunWhileLive): Promise<void>
  /** Records the present length of the attempt's log, so that a reader can later start at a point in time. */
  recordLogSize(ref: AttemptRef, show: LaunchSpec['show']): void
}

/** Runs attempts. An attempt does not depend on its caller: it continues by itself and writes down how it ended. */
export interface AttemptRunner {
  /** Returns the stdin of an attempt; null if it was never stored, or if the attempt got none. */
  readStdin(ref: AttemptRef): Uint8Array | null
  /** Returns the end of the attempt's stderr, if it is separate from the output. */
  stderrTail(ref: AttemptRef): string
  /**
   * Starts the attempt, unless an earlier call did. A repeated call after a crash, at any point, leads to exactly one
   * process. The call may reuse remains of the previous attempt, but no process of that attempt may be alive.
   */
  launch(order: LaunchSpec): Promise<void>
  attemptState(ref: AttemptRef): AttemptState
  /**
   * Returns the request that a command stored before it ended the attempt's processes itself. A caller that has seen
   * the end of such an attempt finds the request.
   */
  request(ref: AttemptRef): StoredRequest | null
  /** The id of the machine's present boot. A process of another boot is dead. */
  readonly boot: string
  /** Returns the last time at which the attempt's files show activity; null if they show none. */
  lastActiveAt(ref: AttemptRef): Instant | null
  /** Returns the bytes of output so far. Costs a fraction of `attemptState`. */
  outputSize(ref: AttemptRef): number
  /** Returns the free bytes of the disk that attempts write to; 0 if the size is unknown. */
  freeSpace(): number
  /** Measures the attempt's processes from outside. */
  processStats(ref: AttemptRef): Promise<ProcessStats>
  /** Returns true if the path is a directory. */
  isDirectory(path: string): boolean
  /** Returns true if exactly this process certainly lives. Costs a fraction of `attemptState`. */
  isProcessAlive(life: ProcessIdentity): boolean
  /** Returns the program's output from a byte offset on, at most `limit` bytes. */
  readOutput(ref: AttemptRef, offset: number, limit: number): Uint8Array
  /**
   * Guards the interpretation of output from this offset on, which may take long. `isStuck`: an earlier supervisor
   * started to read at this offset and did not survive it.
   */
  guardReading<T>(ref: AttemptRef, offset: number, read: (isStuck: boolean) => T): T
  /** Asks the program to stop, as Ctrl-C does. Repeated calls ask once per attempt. */
  interrupt(ref: AttemptRef): Promise<void>
  /** Asks the whole process tree to end. */
  terminate(ref: AttemptRef): Promise<void>
  /**
   * Ends all remaining processes of the attempt's tree, wherever they hide; resolves when none is left, with the number
   * of processes it had to end. `force` kills them without asking. Never reaches a later attempt.
   */
  sweep(ref: AttemptRef, options: { force: boolean }): Promise<number>
  /** Calls back when a shim reports a change of a session, or when a watched session has new output. */
  onChange(listener: (sessionId: SessionId) => void): void
  /** Watches the output of this session; `false` ends that. */
  watchOutput(ref: AttemptRef, on: boolean): void
  /** Deletes the mailbox entries of this attempt and earlier ones, because their content is recorded. */
  acknowledge(ref: Pick<AttemptRef, 'sessionId' | 'attempt'>): void
  /** Stops watching. The launched attempts continue. */
  shutDown(): void
}

/** The whole work plane. A service that needs one part of it asks for that part. */
export interface Runtime extends AttemptRunner, SessionFiles, Viewer {}

/** Runs an action for a session in its turn, if the session is still at work then. */
export type RunWhileLive = (sessionId: SessionId, action: () => Promise<void>) => Promise<void>

/** Returns the current attempt of a session, or the attempt that an effect belongs to. */
export function attemptRef(session: Session, attempt: number = session.attempt.number): AttemptRef {
  return { sessionId: session.spec.id, name: session.spec.name, attempt, mode: session.spec.mode }
}
