import fs from 'node:fs'
import path from 'node:path'
import { readRegularFile } from '../../../../os/files/file-io.ts'
import type { WorkerTrace } from '../../../../ports/worktrees.ts'
import type { Repository } from '../../repository.ts'
import { type TracedCommand, readTrace } from './git-trace.ts'

/** Bytes; git itself keeps three months of it. */
const LONGEST = 64 * 1_048_576

/** What was written down when HEAD of a working tree moved. */
export interface HeadMove {
  readonly to: string
  /** Seconds since 1970, as the clock of whoever moved it said. */
  readonly at: number
  readonly message: string
}

/** Moves to a commit that was there already. */
const NO_COMMIT =
  /Fast-forward$|^(?:reset|checkout|clone|branch|Branch|worktree)\b|^[^:]*\((?:start|finish|abort|reset)\)|returning to refs\//

/** How much of it there is by now; 0 where none is kept. */
export function reflogSize(gitDir: string): number {
  return fs.statSync(reflogFile(gitDir), { throwIfNoEntry: false })?.size ?? 0
}

/** The commits that were made here since; null where nothing is written down about that. */
export function commitsMadeSince(gitDir: string, size: number): HeadMove[] | null {
  return movesSince(gitDir, size)?.filter(({ message }) => !NO_COMMIT.test(message)) ?? null
}

/** How HEAD has moved since; null where nothing is written down about that. */
export function movesSince(gitDir: string, size: number): HeadMove[] | null {
  let text: string
  try {
    const bytes = readRegularFile(reflogFile(gitDir), LONGEST).content
    // One that is shorter than before was made anew.
    text = bytes.subarray(bytes.length < size ? 0 : size).toString('latin1')
  } catch {
    return null // This repository keeps none, or keeps it otherwise.
  }
  return text.split('\n').flatMap(line => {
    const [, to, at, message = ''] = /^\S+ ([0-9a-f]{40,64}) [^>]*> (\d+) [+-]\d+\t?(.*)$/s.exec(line) ?? []
    return to === undefined ? [] : [{ to, at: Number(at), message }]
  })
}

function reflogFile(gitDir: string): string {
  return path.join(gitDir, 'logs', 'HEAD')
}

/** Seconds: the kernel dates files by its last tick, at most 10 ms ago, and never by a later one. */
const TOLERANCE = 0.012
/** Seconds: we read git's trace by the millisecond. */
const TRACE_RESOLUTION = 0.001
/** Seconds: a larger difference means that another machine dates the files. */
const MAX_CLOCK_SKEW = 0.1
/** Seconds that a command may have gone on of which no end is written down. */
const KILLED_COMMAND_TIME = 60

/**
 * The moves of HEAD that git commands of the worker made: those to a commit that was written while such a command ran. The file of
 * the commit says when, to the millisecond. A commit that is packed has only the second in the reflog.
 */
export function workerMoves(
  moves: readonly HeadMove[],
  worker: WorkerTrace,
  { top, commonDir }: Repository,
): HeadMove[] {
  const traced = readTrace(worker.trace)
  const commands = traced.filter(({ isCommitting, worktree }) => isCommitting && (worktree ?? top) === top)
  const skew = clockSkew(worker.trace, traced)
  const wasRunning = (first: number, last: number): boolean =>
    commands.some(
      ({ from, until }) =>
        last >= from - TOLERANCE && first <= (until ?? from + KILLED_COMMAND_TIME) + TRACE_RESOLUTION,
    )
  return moves.filter(({ to, at }) => {
    const made = objectWrittenAt(commonDir, to)
    if (made !== null) return wasRunning(made - skew, made - skew)
    // A date that somebody has made up says nothing.
    const isMadeUp = at < Math.floor(worker.since / 1000) || at > Date.now() / 1000
    return isMadeUp ? commands.length > 0 : wasRunning(at, at + 1)
  })
}

/** Seconds by which the file system's clock is ahead of ours: git writes the trace as it ends. */
function clockSkew(trace: string, commands: readonly TracedCommand[]): number {
  const written = fs.statSync(trace, { throwIfNoEntry: false })?.mtimeMs
  if (written === undefined || commands.length === 0) return 0
  const skew = written / 1000 - Math.max(...commands.map(({ from, until }) => until ?? from))
  return Math.abs(skew) > MAX_CLOCK_SKEW ? skew : 0
}

/** Null for an object that is packed, and where the file system knows only seconds. */
function objectWrittenAt(commonDir: string, id: string): number | null {
  const file = path.join(commonDir, 'objects', id.slice(0, 2), id.slice(2))
  const time = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return time === undefined || time % 1000 === 0 ? null : time / 1000
}
