import fs from 'node:fs'
import os from 'node:os'
import type { Exit, Life } from '../../core/session.ts'
import { hasCode } from '../../lib/trouble.ts'
import type { AttemptFolder } from './folders.ts'
import type { ProcessId } from './processes.ts'

/** What the shim writes to a terminal after the program has ended. Terminals do not show it. */
export const CLOSING_MARK = '\u001b]oneshot;end\u0007'

/** What a shim left in the attempt's folder about how the program ended. */
export type ExitRecord =
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'ended'; readonly exit: Exit }

export function readClaim(folder: AttemptFolder): ProcessId | null {
  return processIn(folder.claim)
}

/** The program of the shim that took the attempt, which is named by its content; null when an older one does not say. */
export function readShimProgram(folder: AttemptFolder): string | null {
  return wholeRecord(folder.claim)?.[1] ?? null
}

export function readRecorder(folder: AttemptFolder): ProcessId | null {
  return processIn(folder.recorder)
}

/** The life of an attempt's program, and the control group that it entered before anything of it could begin. */
export interface Start {
  readonly life: Life
  readonly group: string | null
}

export function readStart(folder: AttemptFolder): Start | null {
  const lines = wholeRecord(folder.started)
  const words = lines?.[0]?.split(' ')
  if (words === undefined || words.length < 3) return null
  const startedAt = Math.floor(fs.statSync(folder.started).mtimeMs) // As all times are cut, so that none comes before it.
  const life = { pid: Number(words[0]), birth: words.slice(1, -1).join(' '), boot: words.at(-1) as string, startedAt }
  return { life, group: lines?.[1] || null }
}

export function readStarted(folder: AttemptFolder): Life | null {
  return readStart(folder)?.life ?? null
}

export function readExit(folder: AttemptFolder): ExitRecord | null {
  const lines = wholeRecord(folder.exit)
  if (lines === null) return null
  const fields = new Map(lines.map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]))
  const refusal = REFUSALS[fields.get('kind') ?? '']
  if (refusal !== undefined) return { kind: 'refused', reason: refusal }
  const status = Number(fields.get('status'))
  const signal = fields.get('signalled') === 'yes' ? signalName(status - 128) : undefined
  return { kind: 'ended', exit: signal === undefined ? { kind: 'code', code: status } : { kind: 'signal', signal } }
}

const REFUSALS: Readonly<Record<string, string>> = {
  refused: 'something of the attempt before is still alive',
  busy: 'another session is at work in its thread',
}

function processIn(file: string): ProcessId | null {
  const words = wholeRecord(file)?.[0]?.split(' ')
  if (words === undefined || words.length < 2) return null
  return { pid: Number(words[0]), birth: words.slice(1).join(' ') }
}

/** A record counts once its last line is `end`: whoever writes it may have been killed in the middle. */
function wholeRecord(file: string): string[] | null {
  // Asked first, because a caught error costs ten times as much, and most attempts have no exit record yet.
  if (!fs.existsSync(file)) return null
  try {
    const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n')
    return lines.at(-1) === 'end' ? lines.slice(0, -1) : null
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return null
    throw cause
  }
}

function signalName(number: number): string | undefined {
  return Object.entries(os.constants.signals).find(([, value]) => value === number)?.[0]
}
