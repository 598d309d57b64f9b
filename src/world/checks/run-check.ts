import { spawn } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { describeExit } from '../../core/policy/exit-policy.ts'
import { countPassedTests } from '../../core/loop/baseline-check.ts'
import type { Exit } from '../../core/session/attempt.ts'
import { type Duration, formatDuration } from '../../lib/time.ts'
import { Trouble } from '../../lib/errors.ts'
import type { Check, CheckResult, Checks } from '../../ports/checks.ts'
import { endProcessTree } from '../../os/process/tree.ts'
import { type ProcessId, identifyProcess } from '../../os/process/processes.ts'
import { findEnvSecrets } from '../../lib/mask/env-secrets.ts'
import { Mask } from '../../lib/mask/mask.ts'
import { renderTerminalText } from '../../lib/text/strip-terminal-controls.ts'
import { readTail } from '../../os/files/file-io.ts'

type CheckOptions = Parameters<Checks['run']>[1]

/** setTimeout accepts 31 bits. */
const MAX_TIMEOUT: Duration = 2 ** 31 - 1
/** Remaining processes get SIGTERM first, and SIGKILL after this time. */
const KILL_GRACE: Duration = 2_000
/** Only a process in an uninterruptible kernel call lives longer than this. */
const END_TIMEOUT: Duration = 15_000

/** The reason for stopping a check early. */
type StopReason = 'late' | 'called off'

/**
 * Runs the line in a shell, in its own process session, and ends all processes that it leaves behind. First it ends the
 * remains of an earlier check with the same log, whose supervisor was killed.
 */
export async function runCheck(check: Check, at: CheckOptions, ending: AbortSignal): Promise<CheckResult> {
  if (ending.aborted) return { ok: false, how: `${check.line}: cancelled`, tail: '', took: 0, isUnknown: true }
  const begun = performance.now()
  const marker = markerOf(at.log)
  try {
    await endProcessTree({ marker, root: null }, { grace: 0, limit: END_TIMEOUT })
    const end = await runToEnd(check.line, at, { marker, ending })
    return resultOf(check, at, { ...end, took: Math.round(performance.now() - begun) })
  } catch (cause) {
    throw new Trouble(`running ${check.line}`, cause)
  }
}

function markerOf(log: string): string {
  return `check-${crypto.createHash('sha256').update(path.resolve(log)).digest('hex').slice(0, 16)}`
}

interface CheckEnd {
  readonly exit: Exit
  readonly stopReason: StopReason | null
}

async function runToEnd(
  line: string,
  at: CheckOptions,
  given: { marker: string; ending: AbortSignal },
): Promise<CheckEnd> {
  const { marker, ending } = given
  const stop = new AbortController()
  const late = setTimeout(() => stop.abort('late'), Math.min(at.limit, MAX_TIMEOUT))
  const callOff = (): void => stop.abort('called off')
  ending.addEventListener('abort', callOff)
  try {
    const { root, ended } = spawnCheck(line, at, marker)
    const exit = await Promise.race([ended, untilAborted(stop.signal)])
    await endProcessTree({ marker, root }, { grace: KILL_GRACE, limit: END_TIMEOUT })
    return { exit: exit ?? (await ended), stopReason: exit === null ? (stop.signal.reason as StopReason) : null }
  } finally {
    clearTimeout(late)
    ending.removeEventListener('abort', callOff)
  }
}

function spawnCheck(line: string, at: CheckOptions, marker: string): { root: ProcessId | null; ended: Promise<Exit> } {
  const cwd = fs.realpathSync(at.cwd)
  const { TMUX: _tmux, TMUX_PANE: _pane, ...env } = at.env
  const log = openLog(at.log)
  try {
    const child = spawn('/bin/sh', ['-c', line], {
      cwd,
      // With CI set, test runners neither watch nor prompt.
      env: { ...env, CI: 'true', PWD: cwd, ONESHOT_ATTEMPT: marker },
      detached: true,
      stdio: ['ignore', log, log],
    })
    const ended = new Promise<Exit>((resolve, reject) => {
      child.on('error', reject)
      child.on('exit', (code, signal) =>
        resolve(code === null ? { kind: 'signal', signal: signal ?? 'SIGKILL' } : { kind: 'code', code }),
      )
    })
    return { root: child.pid === undefined ? null : (identifyProcess(child.pid) ?? null), ended }
  } finally {
    fs.closeSync(log)
  }
}

/** Opens an empty log in append mode: programs that reopen their stderr do not overwrite its content. */
function openLog(file: string): number {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = fs.constants
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const fd = fs.openSync(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
  fs.fchmodSync(fd, 0o600)
  return fd
}

function untilAborted(signal: AbortSignal): Promise<null> {
  return new Promise(resolve => {
    if (signal.aborted) resolve(null)
    else signal.addEventListener('abort', () => resolve(null), { once: true })
  })
}

function resultOf(
  { line }: Check,
  at: CheckOptions,
  { exit, stopReason, took }: CheckEnd & { took: Duration },
): CheckResult {
  const tail = tailOf(at.log, at.env)
  const ok = stopReason === null && exit.kind === 'code' && exit.code === 0
  const isUnknown = !ok && (stopReason !== null || isInconclusive(line, exit, tail))
  const how = `${line}: ${describeEnd(exit, stopReason)} after ${formatDuration(took)}`
  return { ok, how, tail, took, tests: readTestCount(at.log), ...(isUnknown && { isUnknown }) }
}

/** Bytes; the output of a check that lists each of its tests. */
const MAX_COUNTED_SIZE = 1_048_576

/** A program may report the tests of each package: the end of the output shows only the last ones. */
function readTestCount(log: string): number | null {
  const text = readTail(log, MAX_COUNTED_SIZE)
  if (Buffer.byteLength(text) >= MAX_COUNTED_SIZE) return null
  return countPassedTests(renderTerminalText(text, { colour: false }))
}

function describeEnd(exit: Exit, cut: StopReason | null): string {
  if (cut === null) return describeExit(exit)
  return cut === 'late' ? 'stopped at its time limit' : 'cancelled'
}

/** Returns true if the project itself did not fail: a program is missing, or there are no tests. */
function isInconclusive(line: string, exit: Exit, tail: string): boolean {
  if (exit.kind !== 'code') return false
  if (exit.code === 126 || exit.code === 127) return true
  if (!line.includes('pytest')) return false
  return exit.code === 5 || /: No module named '?pytest'?$/m.test(tail)
}

const MAX_LINES = 40
/** Bytes. */
const MAX_BYTES = 4_096
/** Bytes to read: colours and private keys are longer than their replacements. */
const READ_SIZE = 65_536

/** Returns the end of a log for people and prompts: without colours and secrets, in whole lines if they fit. */
function tailOf(log: string, env: Readonly<Record<string, string>>): string {
  const text = readTail(log, READ_SIZE)
  const isCut = Buffer.byteLength(text) >= READ_SIZE
  const clean = new Mask(findEnvSecrets(env)).maskText(renderTerminalText(text, { colour: false })).trimEnd()
  const lines = clean.split('\n')
  const whole = isCut && lines.length > 1 ? lines.slice(1) : lines
  return fitLines(whole.slice(-MAX_LINES))
}

function fitLines(lines: readonly string[]): string {
  let size = 0
  const kept = lines.toReversed().filter(line => {
    size += Buffer.byteLength(line) + 1
    return size <= MAX_BYTES
  })
  if (kept.length > 0) return kept.toReversed().join('\n')
  return Buffer.from(lines.at(-1) ?? '')
    .subarray(-MAX_BYTES)
    .toString()
    .replace(/^\uFFFD+/, '')
}
