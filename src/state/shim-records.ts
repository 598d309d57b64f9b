import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Exit, ProcessIdentity } from '../core/session/attempt.ts'
import { hasCode } from '../lib/errors.ts'
import type { AttemptFolder } from './session-folder.ts'
import type { ProcessId } from '../os/process/processes.ts'

/** The shim writes this to a terminal after the program has ended. Terminals do not display it. */
export const CLOSING_MARK = '\u001b]oneshot;end\u0007'

/** The shim's record of the program's end. */
export type ExitRecord =
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'ended'; readonly exit: Exit }

export function readClaim(folder: AttemptFolder): ProcessId | null {
  return readProcessId(folder.claim)
}

/** The shim that claimed an attempt. */
export interface ShimRecord extends ProcessId {
  /** The file name of its program, which contains a hash; null for an older shim, which does not record it. */
  readonly program: string | null
  /** The control group that the shim entered before it started anything; null if it could not. */
  readonly group: string | null
}

export function readShim(folder: AttemptFolder): ShimRecord | null {
  const lines = readCompleteRecord(folder.claim)
  const shim = parseProcessId(lines)
  return shim === null ? null : { ...shim, program: lines?.[1] || null, group: validateCgroup(lines?.[2], folder) }
}

/**
 * Accepts only a group of this session: a sweep ends everything in the group, so a damaged or forged claim must not
 * name another.
 */
function validateCgroup(group: string | undefined, { root }: AttemptFolder): string | null {
  const id = path.basename(path.dirname(path.dirname(root)))
  const [, owner] = /^\/.*\/oneshot-([^/]{10})\.\d+$/.exec(group ?? '') ?? []
  return group !== undefined && owner === id && path.normalize(group) === group ? group : null
}

export function readRecorder(folder: AttemptFolder): ProcessId | null {
  return readProcessId(folder.recorder)
}

export function readStarted(folder: AttemptFolder): ProcessIdentity | null {
  const words = readCompleteRecord(folder.started)?.[0]?.split(' ')
  if (words === undefined || words.length < 3) return null
  // Cut to milliseconds like all times, so that no other time comes before it.
  const startedAt = Math.floor(fs.statSync(folder.started).mtimeMs)
  return { pid: Number(words[0]), birth: words.slice(1, -1).join(' '), boot: words.at(-1) as string, startedAt }
}

export function readExit(folder: AttemptFolder): ExitRecord | null {
  const lines = readCompleteRecord(folder.exit)
  if (lines === null) return null
  const fields = new Map(lines.map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]))
  const refusal = REFUSAL_REASONS[fields.get('kind') ?? '']
  if (refusal !== undefined) return { kind: 'refused', reason: refusal }
  const status = Number(fields.get('status'))
  const signal = fields.get('signalled') === 'yes' ? signalName(status - 128) : undefined
  return { kind: 'ended', exit: signal === undefined ? { kind: 'code', code: status } : { kind: 'signal', signal } }
}

const REFUSAL_REASONS: Readonly<Record<string, string>> = {
  refused: 'something of the attempt before is still alive',
  busy: 'another session uses its thread now',
}

function readProcessId(file: string): ProcessId | null {
  return parseProcessId(readCompleteRecord(file))
}

function parseProcessId(lines: readonly string[] | null): ProcessId | null {
  const words = lines?.[0]?.split(' ')
  if (words === undefined || words.length < 2) return null
  return { pid: Number(words[0]), birth: words.slice(1).join(' ') }
}

/** Returns the lines of a record whose last line is `end`; null otherwise: its writer may have been killed halfway. */
function readCompleteRecord(file: string): string[] | null {
  // This check comes first, because a caught error costs ten times as much, and most attempts have no exit record yet.
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
