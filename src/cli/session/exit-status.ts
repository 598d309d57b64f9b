import os from 'node:os'
import type { SessionView } from '../../api/contract/session-view.ts'

/** The exit code that tells a script how the work ended. */
export function exitStatusOf(session: SessionView): number {
  const { phase, outcome, exitCode, signal } = session
  if (phase !== 'ended' || outcome === 'done') return 0
  if (exitCode !== null && exitCode > 0) return exitCode
  return outcome !== 'stopped' && signal !== null ? 128 + signalNumber(signal) : 1
}

function signalNumber(name: string): number {
  const numbers: Readonly<Record<string, number>> = os.constants.signals
  return numbers[name] ?? 0
}
