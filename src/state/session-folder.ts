import path from 'node:path'
import type { Home } from './home.ts'

/** The files of one session. */
export interface SessionFolder {
  readonly root: string
  readonly prompt: string
  /** What was sent to it later, one file each. */
  readonly messages: string
  readonly env: string
  /** A copy of the recorded session, for rebuilding a lost database and for telling readers that something changed. */
  readonly mirror: string
  readonly transcript: string
  /** When the transcript had which length. */
  readonly times: string
  /** The folder of the next attempt, made ready while there is time: whatever is made anew takes longer. */
  readonly preparedAttempt: string
  /** Held by everything of a live attempt, so that two never overlap. */
  readonly lock: string
  /** What its hooks wrote, one file each. */
  readonly hooks: string
  /** How far its files in the project were written. */
  readonly project: string
  /** What it last saw of its project's task tracker. */
  readonly tracker: string
}

/** The files of one attempt. */
export interface AttemptFolder {
  readonly root: string
  readonly launch: string
  /** The program's environment and arguments. It is emptied when the attempt has ended. */
  readonly enter: string
  readonly stdin: string
  readonly stdout: string
  readonly stderr: string
  /** When stdout had which length, noted while it grew. */
  readonly times: string
  /** Leads to the lock of its thread. */
  readonly thread: string
  readonly claim: string
  readonly started: string
  readonly exit: string
  /** The request of a command that found no supervisor. */
  readonly request: string
  /** Where its output is being read, while that may take long. */
  readonly reading: string
  /** Present once the program was asked to stop. */
  readonly interrupted: string
  /** Present once the attempt is being swept: what has not begun by then does not begin. */
  readonly swept: string
  /** Present once all that its terminal said is recorded. */
  readonly drained: string
  /** The pid of the process that records a terminal's output. */
  readonly recorder: string
  /** Present while a gap that a recorder left is being filled: the next recorder waits for it. */
  readonly gap: string
}

export function sessionFolder(home: Home, id: string): SessionFolder {
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
  }
}

export function attemptFolder(home: Home, id: string, attempt: number): AttemptFolder {
  return attemptFolderAt(`${home.sessions}/${id}/attempts/${attempt}`)
}

/** The same files, wherever they lie. */
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

/** The value of ONESHOT_ATTEMPT in everything an attempt starts, and the name of its letters in the mailbox. */
export function attemptId(sessionId: string, attempt: number): string {
  return `${sessionId}.${attempt}`
}

export function parseMailboxEntry(entry: string): { sessionId: string; attempt: number } {
  const [sessionId = '', attempt] = entry.split('.')
  return { sessionId, attempt: Number(attempt) }
}

/** The socket of the tmux server that owns a terminal session's tty. */
export function terminalSocket(home: Home, sessionId: string): string {
  return path.join(home.terminals, `${sessionId}.sock`)
}
