import type { CheckpointView, SessionView } from '../../api/contract/responses.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { type DisplayState, displayState, renderState } from '../../views/describe-session.ts'
import type { ColorName, Paint } from '../terminal/colors.ts'
import os from 'node:os'

const STATE_COLORS: { readonly [S in DisplayState]: ColorName } = {
  starting: 'cyan',
  running: 'green',
  resting: 'yellow',
  blocked: 'magenta',
  held: 'yellow',
  'not-running': 'yellow',
  stopping: 'yellow',
  done: 'green',
  failed: 'red',
  stopped: 'dim',
  'gave-up': 'red',
  ended: 'dim',
}

export function colorState(text: string, session: SessionView, paint: Paint): string {
  return paint[STATE_COLORS[displayState(session)]](text)
}

/** Returns `✔ done demo-fix-auth: exit code 0`. */
export function stateLine(session: SessionView, paint: Paint, symbol?: string): string {
  const label = colorState(renderState(session, symbol), session, paint)
  const reason = session.reason === null ? '' : `: ${toOneLine(session.reason)}`
  return `${label} ${shownName(session)}${reason}`
}

/** Returns `3 files, +10 −2`. */
export function formatDiffStat({ files, added, removed }: Pick<CheckpointView, 'files' | 'added' | 'removed'>): string {
  return `${files} ${files === 1 ? 'file' : 'files'}, +${added} −${removed}`
}

/** Formats a sentence about a file that a checkpoint does not contain. */
export function formatLeftOut(sentence: string): string {
  return `left out: ${toOneLine(sentence)}`
}

/** Returns the exit code that reports the outcome to a script. */
export function exitStatusFor(session: SessionView): number {
  const { phase, outcome, exitCode, signal } = session
  if (phase !== 'ended' || outcome === 'done') return 0
  if (exitCode !== null && exitCode > 0) return exitCode
  return outcome !== 'stopped' && signal !== null ? 128 + signalNumber(signal) : 1
}

function signalNumber(name: string): number {
  const numbers: Readonly<Record<string, number>> = os.constants.signals
  return numbers[name] ?? 0
}
