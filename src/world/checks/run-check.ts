import { spawn } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { describeExit } from '../../core/judge-end.ts'
import type { Exit } from '../../core/session.ts'
import { type Duration, formatDuration } from '../../lib/time.ts'
import { Trouble } from '../../lib/trouble.ts'
import type { Check, CheckResult, Checks } from '../../ports/checks.ts'
import { endTree } from '../os/end-tree.ts'
import { identify, type ProcessId } from '../os/processes.ts'
import { tailOf } from './tail.ts'

type At = Parameters<Checks['run']>[1]

/** setTimeout counts in 31 bits. */
const LONGEST: Duration = 2 ** 31 - 1
/** What is left of it is asked to go first, and killed after this long. */
const GRACE: Duration = 2_000
/** Only a process that the kernel holds fast lives longer than this. */
const LIMIT: Duration = 15_000

/** Why it was ended before its end. */
type Cut = 'late' | 'called off'

/**
 * Runs it as a shell would, in a process session of its own, and ends all that it leaves behind; and first of all what is left of one
 * with the same log, whose supervisor was killed.
 */
export async function runCheck(check: Check, at: At, ending: AbortSignal): Promise<CheckResult> {
  if (ending.aborted) return { ok: false, how: `${check.line}: cancelled`, tail: '', took: 0, isUnknown: true }
  const begun = performance.now()
  const marker = markerOf(at.log)
  try {
    await endTree({ marker, root: null }, { grace: 0, limit: LIMIT })
    const end = await live(check.line, at, { marker, ending })
    return resultOf(check, at, { ...end, took: Math.round(performance.now() - begun) })
  } catch (cause) {
    throw new Trouble(`running ${check.line}`, cause)
  }
}

function markerOf(log: string): string {
  return `check-${crypto.createHash('sha256').update(path.resolve(log)).digest('hex').slice(0, 16)}`
}

interface End {
  readonly exit: Exit
  readonly cut: Cut | null
}

async function live(line: string, at: At, given: { marker: string; ending: AbortSignal }): Promise<End> {
  const { marker, ending } = given
  const hurry = new AbortController()
  const late = setTimeout(() => hurry.abort('late'), Math.min(at.limit, LONGEST))
  const callOff = (): void => hurry.abort('called off')
  ending.addEventListener('abort', callOff)
  try {
    const { root, ended } = start(line, at, marker)
    const exit = await Promise.race([ended, cutShort(hurry.signal)])
    await endTree({ marker, root }, { grace: GRACE, limit: LIMIT })
    return { exit: exit ?? (await ended), cut: exit === null ? (hurry.signal.reason as Cut) : null }
  } finally {
    clearTimeout(late)
    ending.removeEventListener('abort', callOff)
  }
}

function start(line: string, at: At, marker: string): { root: ProcessId | null; ended: Promise<Exit> } {
  const cwd = fs.realpathSync(at.cwd)
  const { TMUX: _tmux, TMUX_PANE: _pane, ...env } = at.env
  const log = openLog(at.log)
  try {
    const child = spawn('/bin/sh', ['-c', line], {
      cwd,
      // With CI set test runners neither watch nor ask.
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
    return { root: child.pid === undefined ? null : (identify(child.pid) ?? null), ended }
  } finally {
    fs.closeSync(log)
  }
}

/** Empty, and always appended to: programs that open their own stderr anew do not write over what is there. */
function openLog(file: string): number {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = fs.constants
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const fd = fs.openSync(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
  fs.fchmodSync(fd, 0o600)
  return fd
}

function cutShort(signal: AbortSignal): Promise<null> {
  return new Promise(resolve => {
    if (signal.aborted) resolve(null)
    else signal.addEventListener('abort', () => resolve(null), { once: true })
  })
}

function resultOf({ line }: Check, at: At, { exit, cut, took }: End & { took: Duration }): CheckResult {
  const tail = tailOf(at.log, at.env)
  const ok = cut === null && exit.kind === 'code' && exit.code === 0
  const isUnknown = !ok && (cut !== null || saysNothing(line, exit, tail))
  const how = `${line}: ${words(exit, cut)} after ${formatDuration(took)}`
  return { ok, how, tail, took, ...(isUnknown && { isUnknown }) }
}

function words(exit: Exit, cut: Cut | null): string {
  if (cut === null) return describeExit(exit)
  return cut === 'late' ? 'stopped at its time limit' : 'cancelled'
}

/** It was not the project that failed: a program is missing, or there was nothing to be tested. */
function saysNothing(line: string, exit: Exit, tail: string): boolean {
  if (exit.kind !== 'code') return false
  if (exit.code === 126 || exit.code === 127) return true
  if (!line.includes('pytest')) return false
  return exit.code === 5 || /: No module named '?pytest'?$/m.test(tail)
}
