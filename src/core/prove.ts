import type { Evidence } from './loop/evidence.ts'
import type { Outcome } from './session.ts'

/** What git shows of the work of a session. */
export type Work = Omit<Evidence, 'now'>

/** What came of trying whether the project is in order. */
export type Checked =
  | { readonly kind: 'passed' | 'failed' | 'unknown'; readonly line: string; readonly how: string }
  /** Nothing there is known to be able to tell. */
  | { readonly kind: 'none' }
  /** It was not to be tried. */
  | { readonly kind: 'off' }

/** All that is known of a session's work. */
export interface Grounds {
  readonly state: Outcome | 'at-work'
  /** Why it is in that state. */
  readonly reason: string | null
  /** A sentence where it cannot be told; null where it does not matter. */
  readonly work: Work | string | null
  /** The agent's own last word; null for programs that have none. */
  readonly said: string | null
  /** Lines of the end of its output that tell of failure. */
  readonly failures: readonly string[]
  /** Null where it does not matter. */
  readonly checked: Checked | null
}

/** What can be seen of the work. */
export type Shown = Pick<Grounds, 'work' | 'failures' | 'checked'>

export interface Judgement {
  readonly verdict: 'proven' | 'refuted' | 'not-proven'
  /** The verdict with what decides it. */
  readonly sentence: string
  /** Everything that speaks against it, the weightiest first; then what was found. */
  readonly reasons: readonly string[]
}

interface Objection {
  readonly verdict: 'refuted' | 'not-proven'
  readonly why: string
}

/**
 * Judges whether the work of a session is done, by what can be seen of it. A failing check and a failed session refute it.
 * Otherwise something must have been changed, the session must have come to a good end, and nothing may be left unclear.
 */
export function prove(grounds: Grounds): Judgement {
  const [first, ...others] = objectionsTo(grounds)
  const found = findings(grounds)
  if (first === undefined)
    return { verdict: 'proven', sentence: `${wordFor(grounds)}: ${found.join(', ')}`, reasons: found }
  const beside = hasWork(grounds.work) ? found : []
  const aside = beside.length === 0 ? '' : ` (${beside.join(', ')})`
  const sentence = `${WORDS[first.verdict]}: ${first.why}${aside}`
  return { verdict: first.verdict, sentence, reasons: [first.why, ...others.map(({ why }) => why), ...beside] }
}

/** Without a check, changed files are all that is known. */
function wordFor({ checked }: Grounds): string {
  return checked?.kind === 'none' || checked?.kind === 'off' ? 'changed, not tested' : 'proven'
}

const WORDS = { refuted: 'refuted', 'not-proven': 'not proven' } as const

function objectionsTo(grounds: Grounds): Objection[] {
  const { work, checked } = grounds
  const refuted = [checked?.kind === 'failed' ? `${quotedLine(checked.line)} fails` : null, failureIn(grounds)]
  const unproven = [
    typeof work === 'string' ? `oneshot cannot tell what changed: ${work}` : null,
    work !== null && typeof work !== 'string' && !hasWork(work) ? 'it changed no file' : null,
    grounds.state === 'at-work' ? 'it is still running' : null,
    grounds.state === 'stopped' ? `it did not finish: ${grounds.reason ?? 'stopped'}` : null,
    checked?.kind === 'unknown' ? checked.how : null,
    complaintIn(grounds),
  ]
  const because = (verdict: Objection['verdict']) => (why: string | null) => (why === null ? [] : [{ verdict, why }])
  return [...refuted.flatMap(because('refuted')), ...unproven.flatMap(because('not-proven'))]
}

function failureIn({ state, reason }: Grounds): string | null {
  if (state === 'failed') return `it failed: ${reason ?? 'no reason is known'}`
  return state === 'gave-up' ? `oneshot gave it up: ${reason ?? 'no reason is known'}` : null
}

/** An agent that ended its turn well has got over what failed on the way, and a check that passes knows better than words. */
function complaintIn({ said, failures, checked }: Grounds): string | null {
  const last = failures.at(-1)
  if (last === undefined || said !== null || checked?.kind === 'passed') return null
  return `its output reports a failure: ${last}`
}

/** A commit that changes nothing is no work. */
function hasWork(work: Work | string | null): work is Work {
  return work !== null && typeof work !== 'string' && work.change.files > 0
}

function findings({ work, checked }: Grounds): string[] {
  return [...(hasWork(work) ? describeWork(work) : []), ...(checked === null ? [] : describeCheck(checked))]
}

/** `3 commits`, `12 files`, `2 of them not committed` */
function describeWork({ commitCount, change, uncommitted }: Work): string[] {
  const { files } = change
  const rest = uncommitted >= files ? 'not committed' : `${uncommitted} of them not committed`
  const commits = commitCount === 0 ? [] : [counted(commitCount, 'commit')]
  return [...commits, counted(files, 'file'), ...(uncommitted === 0 ? [] : [rest])]
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function describeCheck(checked: Checked): string[] {
  switch (checked.kind) {
    case 'passed':
      return [`${quotedLine(checked.line)} passes`]
    case 'failed':
    case 'unknown':
      return []
    case 'none':
      return ['the project has no check']
    case 'off':
      return ['no check was run']
  }
}

/** A line for a shell may read like a part of the sentence around it. */
function quotedLine(line: string): string {
  return /^[\w@%+=:,./ -]+$/.test(line) ? line : `“${line}”`
}
