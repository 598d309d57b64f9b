import path from 'node:path'
import { isSessionId, type SessionId } from '../core/session/session-id-and-name.ts'
import type { Home } from './home.ts'

/** For rooms that know the folders of sessions, and no other part of core. */
export { isSessionId, sessionId, type SessionId } from '../core/session/session-id-and-name.ts'

/** Paths of one session's files. */
export interface SessionFolder {
  readonly root: string
  readonly prompt: string
  /** Messages after the prompt, one file each. */
  readonly messages: string
  readonly env: string
  /** A copy of the recorded session, for rebuilding a lost database and for waking readers after a change. */
  readonly mirror: string
  readonly transcript: string
  /** Times at which the transcript had which length. */
  readonly times: string
  /** The folder of the next attempt, created in advance because creating files takes time at a restart. */
  readonly preparedAttempt: string
  /** All processes of a live attempt hold this lock, so that two attempts never overlap. */
  readonly lock: string
  /** Output of its hooks, one file each. */
  readonly hooks: string
  /** Position up to which its files in the project are written. */
  readonly project: string
  /** The last snapshot of its project's task tracker. */
  readonly tracker: string
  /** The action that keeps failing, with the number of failures; exists only after two in a row. */
  readonly trouble: string
}

/** Paths of one attempt's files. */
export interface AttemptFolder {
  readonly root: string
  readonly launch: string
  /** The program's environment and arguments. The sweep empties it after the attempt. */
  readonly enter: string
  readonly stdin: string
  readonly stdout: string
  readonly stderr: string
  /** Times at which stdout had which length, recorded while it grew. */
  readonly times: string
  /** Symbolic link to the lock of its thread. */
  readonly thread: string
  readonly claim: string
  readonly started: string
  readonly exit: string
  /** The request of a command that found no supervisor. */
  readonly request: string
  /** Marks the offset at which a supervisor reads the output, during a read that may take long. */
  readonly reading: string
  /** Exists once the supervisor has interrupted the program. */
  readonly interrupted: string
  /** Exists once a sweep has begun: a program that has not started by then never starts. */
  readonly swept: string
  /** Exists once the recorder has written all output of the terminal. */
  readonly drained: string
  /** Pid of the process that records a terminal's output. */
  readonly recorder: string
  /** Exists while the supervisor fills a gap in the recording: the next recorder waits for it. */
  readonly gap: string
}

export function sessionFolder(home: Home, id: SessionId): SessionFolder {
  const root = `${home.sessions}/${id}`
  const at = (name: string): string => `${root}/${name}`
  return {
    root,
    prompt: at('prompt'),
    messages: at('messages'),
    env: at('env.json'),
    mirror: at('session.json'),
    transcript: at('transcript'),
    times: at('times'),
    preparedAttempt: at('spare'),
    lock: at('lock'),
    hooks: at('hooks'),
    project: at('project.json'),
    tracker: at('tracker.json'),
    trouble: at('trouble.json'),
  }
}

export function attemptFolder(home: Home, id: SessionId, attempt: number): AttemptFolder {
  return attemptFolderAt(`${home.sessions}/${id}/attempts/${attempt}`)
}

/** Returns the same paths below any folder. */
export function attemptFolderAt(root: string): AttemptFolder {
  const at = (name: string): string => `${root}/${name}`
  return {
    root,
    launch: at('launch'),
    enter: at('enter'),
    stdin: at('stdin'),
    stdout: at('stdout'),
    stderr: at('stderr'),
    times: at('times'),
    thread: at('thread'),
    claim: at('claim'),
    started: at('started'),
    exit: at('exit'),
    request: at('request'),
    reading: at('reading'),
    interrupted: at('interrupted'),
    swept: at('swept'),
    drained: at('drained'),
    recorder: at('recorder'),
    gap: at('gap'),
  }
}

/**
 * Returns the value of ONESHOT_ATTEMPT in all processes of an attempt, which is also the name of its mailbox entries.
 */
export function attemptId(sessionId: SessionId, attempt: number): string {
  return `${sessionId}.${attempt}`
}

/** Returns null unless the entry begins with the id of a session: any process can write such a text. */
export function parseMailboxEntry(entry: string): { sessionId: SessionId; attempt: number } | null {
  const [sessionId = '', attempt] = entry.split('.')
  return isSessionId(sessionId) ? { sessionId, attempt: Number(attempt) } : null
}

/** Returns the socket of the tmux server that owns a terminal session's tty. */
export function terminalSocket(home: Home, sessionId: SessionId): string {
  return path.join(home.terminals, `${sessionId}.sock`)
}
