import fs from 'node:fs'
import path from 'node:path'
import { readRegularFile } from '../../../../os/files/file-io.ts'
import type { WorkerTrace } from '../../../../ports/worktrees.ts'
import type { Repository } from '../../repository.ts'
import { type TracedCommand, readTrace } from './git-trace.ts'

/** Bytes; git itself keeps three months. */
const MAX_REFLOG_SIZE = 64 * 1_048_576

/** An entry of a worktree's HEAD reflog. */
export interface HeadMove {
  readonly to: string
  /** Seconds since 1970, by the clock of the process that moved HEAD. */
  readonly at: number
  readonly message: string
}

/** Moves to a commit that existed before. */
const NO_COMMIT =
  /Fast-forward$|^(?:reset|checkout|clone|branch|Branch|worktree)\b|^[^:]*\((?:start|finish|abort|reset)\)|returning to refs\//

/** Returns the size of HEAD's reflog; 0 if there is none. */
export function reflogSize(gitDir: string): number {
  return fs.statSync(reflogFile(gitDir), { throwIfNoEntry: false })?.size ?? 0
}

/** Returns the commits that git created here since then; null if there is no reflog. */
export function commitsMadeSince(gitDir: string, size: number): HeadMove[] | null {
  return movesSince(gitDir, size)?.filter(({ message }) => !NO_COMMIT.test(message)) ?? null
}

/** Returns the moves of HEAD since then; null if there is no reflog. */
export function movesSince(gitDir: string, size: number): HeadMove[] | null {
  let text: string
  try {
    const bytes = readRegularFile(reflogFile(gitDir), MAX_REFLOG_SIZE).content
    // Somebody has recreated a shorter reflog.
    text = bytes.subarray(bytes.length < size ? 0 : size).toString('latin1')
  } catch {
    return null // The repository keeps no reflog, or stores it in another format.
  }
  return text.split('\n').flatMap(line => {
    const [, to, at, message = ''] = /^\S+ ([0-9a-f]{40,64}) [^>]*> (\d+) [+-]\d+\t?(.*)$/s.exec(line) ?? []
    return to === undefined ? [] : [{ to, at: Number(at), message }]
  })
}

function reflogFile(gitDir: string): string {
  return path.join(gitDir, 'logs', 'HEAD')
}

/** Seconds: the kernel stamps files with its last tick, at most 10 ms ago, and never with a later one. */
const TOLERANCE = 0.012
/** Seconds: we parse the times of git's trace in milliseconds. */
const TRACE_RESOLUTION = 0.001
/** Seconds: a larger difference means that another machine stamps the files. */
const MAX_CLOCK_SKEW = 0.1
/** Seconds that a command without a recorded end may have run. */
const KILLED_COMMAND_TIME = 60

/** Returns true if one of these commands ran at some moment of this time, in seconds since 1970. */
export function wasRunningAt(commands: readonly TracedCommand[], first: number, last: number): boolean {
  return commands.some(
    ({ from, until }) => last >= from - TOLERANCE && first <= (until ?? from + KILLED_COMMAND_TIME) + TRACE_RESOLUTION,
  )
}

/**
 * Returns the moves of HEAD that the worker's git commands made: such a command ran when git wrote the target commit.
 * The commit's object file has the time in milliseconds. For a packed commit, only the reflog has it, in seconds.
 */
export function workerMoves(
  moves: readonly HeadMove[],
  worker: WorkerTrace,
  { top, commonDir }: Repository,
): HeadMove[] {
  const traced = readTrace(worker.trace)
  const commands = traced.filter(({ isCommitting, worktree }) => isCommitting && (worktree ?? top) === top)
  const skew = clockSkew(worker.trace, traced)
  return moves.filter(({ to, at }) => {
    const made = objectWrittenAt(commonDir, to)
    if (made !== null) return wasRunningAt(commands, made - skew, made - skew)
    // A forged date proves nothing.
    const isMadeUp = at < Math.floor(worker.since / 1000) || at > Date.now() / 1000
    return isMadeUp ? commands.length > 0 : wasRunningAt(commands, at, at + 1)
  })
}

/** Returns the seconds by which the file system's clock is ahead of ours: git writes the trace when it ends. */
function clockSkew(trace: string, commands: readonly TracedCommand[]): number {
  const written = fs.statSync(trace, { throwIfNoEntry: false })?.mtimeMs
  if (written === undefined || commands.length === 0) return 0
  const skew = written / 1000 - Math.max(...commands.map(({ from, until }) => until ?? from))
  return Math.abs(skew) > MAX_CLOCK_SKEW ? skew : 0
}

/** Returns null for a packed object, and if the file system records only seconds. */
function objectWrittenAt(commonDir: string, id: string): number | null {
  const file = path.join(commonDir, 'objects', id.slice(0, 2), id.slice(2))
  const time = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return time === undefined || time % 1000 === 0 ? null : time / 1000
}
