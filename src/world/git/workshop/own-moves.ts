import fs from 'node:fs'
import path from 'node:path'
import type { Worker } from '../../../ports/workshop.ts'
import type { Repository } from '../repository.ts'
import { commandsIn, type TracedCommand } from './git-trace.ts'
import type { Move } from './reflog.ts'

/** Seconds: the kernel dates files by its last tick, at most 10 ms ago, and never by a later one. */
const TOLERANCE = 0.012
/** Seconds: we read git's trace by the millisecond. */
const TRACE_STEP = 0.001
/** Seconds: a larger difference means that another machine dates the files. */
const OTHER_CLOCK = 0.1
/** Seconds that a command may have gone on of which no end is written down. */
const KILLED = 60

/**
 * The moves of HEAD that git commands of the worker made: those to a commit that was written while such a command ran. The file of
 * the commit says when, to the millisecond. A commit that is packed has only the second in the reflog.
 */
export function movesOf(moves: readonly Move[], worker: Worker, { top, commonDir }: Repository): Move[] {
  const traced = commandsIn(worker.trace)
  const commands = traced.filter(({ isCommitting, worktree }) => isCommitting && (worktree ?? top) === top)
  const skew = clockSkew(worker.trace, traced)
  const wasRunning = (first: number, last: number): boolean =>
    commands.some(({ from, until }) => last >= from - TOLERANCE && first <= (until ?? from + KILLED) + TRACE_STEP)
  return moves.filter(({ to, at }) => {
    const made = writtenAt(commonDir, to)
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
  return Math.abs(skew) > OTHER_CLOCK ? skew : 0
}

/** Null for an object that is packed, and where the file system knows only seconds. */
function writtenAt(commonDir: string, id: string): number | null {
  const file = path.join(commonDir, 'objects', id.slice(0, 2), id.slice(2))
  const time = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return time === undefined || time % 1000 === 0 ? null : time / 1000
}
