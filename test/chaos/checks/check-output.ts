import fs from 'node:fs'
import type { SessionView } from '../../../src/api/contract/responses.ts'
import { readLog } from '../../../src/views/output-log.ts'
import { attemptFolder, attemptId, sessionFolder } from '../../../src/state/session-folder.ts'
import type { Home } from '../../../src/state/home.ts'
import type { Entry } from '../agent/journal.ts'
import { numberOf } from '../agent/numbered-line.ts'
import type { ChaosSession } from '../fleet/chaos-session.ts'
import type { Promised } from './findings.ts'

/** Matches characters that a terminal could obey or that reverse text; tabs and line ends are harmless. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

export interface OutputFigures {
  readonly bytes: number
  readonly lines: number
  /** Lines lost with a terminal whose tmux server was killed: documented, and counted separately. */
  readonly lostWithTerminal: number
  /** Lines that appear twice because a recorder was killed while it wrote them. */
  readonly repeatedByRecorder: number
}

interface Source {
  readonly home: Home
  readonly journal: readonly Entry[]
  readonly say: (promise: Promised, evidence: string) => void
}

/**
 * Checks that every line in the agent's journal appears once, in order and byte for byte, in the output and in the log
 * for people.
 */
export async function checkOutput(session: ChaosSession, view: SessionView, source: Source): Promise<OutputFigures> {
  const { home, journal, say } = source
  const figures = { bytes: 0, lines: 0, lostWithTerminal: 0, repeatedByRecorder: 0 }
  const outputs: Buffer[] = []
  const recorded: string[] = []
  for (let attempt = 1; attempt <= view.attempt; attempt++) {
    const { stdout } = attemptFolder(home, view.id, attempt)
    const bytes = fs.existsSync(stdout) ? fs.readFileSync(stdout) : Buffer.alloc(0)
    outputs.push(bytes)
    figures.bytes += bytes.length
    const lines = textsIn(wholeLines(bytes.toString()))
    // The log for people also has lines of which a full disk lost only the line end.
    recorded.push(...textsIn(bytes.toString().split(/\r*\n/)).filter(line => line.startsWith('#')))
    const found = compare(lines, said(journal, attemptId(view.id, attempt)), attemptId(view.id, attempt))
    figures.lines += found.lines
    if (session.hurt.has('terminal')) figures.lostWithTerminal += found.missing
    else if (found.missing > 0)
      say('bytes', `${found.missing} lines of attempt ${attempt} are lost (${found.evidence})`)
    if (session.hurt.has('recorder') || session.hurt.has('terminal')) figures.repeatedByRecorder += found.repeated
    else if (found.repeated + found.strange > 0)
      say(
        'bytes',
        `attempt ${attempt} has ${found.repeated} lines twice and ${found.strange} strange ones (${found.evidence})`,
      )
  }
  if (session.hurt.size > 0) return figures
  const transcript = fs.readFileSync(sessionFolder(home, view.id).transcript, 'utf8').split('\n')
  const shown = transcript.filter(line => line.startsWith('#'))
  if (shown.join('\n') !== recorded.join('\n'))
    say(
      'transcript',
      `the transcript tells ${shown.length} lines, the spool ${recorded.length}${firstDifference(shown, recorded)}`,
    )
  const log: Uint8Array[] = []
  for await (const part of readLog(home, view, { raw: true, colour: false })) log.push(part)
  if (!Buffer.concat(log).equals(Buffer.concat(outputs))) say('bytes', 'log --raw differs from the spool')
  for await (const part of readLog(home, view, { raw: false, colour: false })) {
    const control = CONTROLS.exec(Buffer.from(part).toString())
    if (control === null) continue
    say('terminal', `log prints the control character ${JSON.stringify(control[0])}`)
    break
  }
  return figures
}

/** Returns the complete lines: an agent killed within a line has not recorded that line in its journal. */
function wholeLines(output: string): string[] {
  return output.split(/\r*\n/).slice(0, -1)
}

function textsIn(lines: readonly string[]): string[] {
  return lines.flatMap(line => {
    try {
      const event = JSON.parse(line) as { type?: string; text?: string }
      return event.type === 'text' && event.text !== undefined ? [event.text] : []
    } catch {
      return line === '' ? [] : [line]
    }
  })
}

function said(journal: readonly Entry[], attempt: string): number {
  const last = journal.findLast(entry => entry.kind === 'wrote' && entry.attempt === attempt)
  return last?.kind === 'wrote' ? last.lines : 0
}

interface Comparison {
  readonly lines: number
  readonly missing: number
  readonly repeated: number
  /** Lines that are incomplete or out of order. */
  readonly strange: number
  readonly evidence: string
}

function compare(lines: readonly string[], said: number, attempt: string): Comparison {
  const numbers = lines.map(line => numberOf(line))
  const own = numbers.flatMap(found => (found?.attempt === attempt ? [found.number] : []))
  const seen = new Set(own)
  const missing = Array.from({ length: said }, (_, i) => i + 1).filter(number => !seen.has(number))
  const isOrdered = own.every((number, i) => number === i + 1)
  const strange = numbers.length - own.length + (isOrdered ? 0 : 1)
  const odd = lines.filter((_, i) => numbers[i]?.attempt !== attempt).map(line => line.slice(0, 60))
  const evidence = `said ${said}, missing ${missing.slice(0, 5)}, found ${own.length}, odd ${JSON.stringify(odd.slice(0, 3))}`
  return { lines: seen.size, missing: missing.length, repeated: own.length - seen.size, strange, evidence }
}

function firstDifference(a: readonly string[], b: readonly string[]): string {
  const at = Array.from({ length: Math.max(a.length, b.length) }, (_, i) => i).find(i => a[i] !== b[i]) ?? -1
  return `; they part at ${at}: ${a[at]?.slice(0, 40)} / ${b[at]?.slice(0, 40)}`
}
