import { secretsIn } from '../../lib/mask/env-secrets.ts'
import { Mask } from '../../lib/mask/mask.ts'
import { readable } from '../../lib/terminal-text.ts'
import { readEnd } from '../os/files.ts'

const MOST_LINES = 40
/** Bytes. */
const MOST = 4_096
/** So much is looked at: colours and private keys are longer than what is left of them. */
const WINDOW = 65_536

/** The end of a log for people and prompts: no colours, no secrets, whole lines as far as they fit. */
export function tailOf(log: string, env: Readonly<Record<string, string>>): string {
  const text = readEnd(log, WINDOW)
  const isCut = Buffer.byteLength(text) >= WINDOW
  const clean = new Mask(secretsIn(env)).hide(readable(text, { colour: false })).trimEnd()
  const lines = clean.split('\n')
  const whole = isCut && lines.length > 1 ? lines.slice(1) : lines
  return shortened(whole.slice(-MOST_LINES))
}

function shortened(lines: readonly string[]): string {
  let size = 0
  const kept = lines.toReversed().filter(line => {
    size += Buffer.byteLength(line) + 1
    return size <= MOST
  })
  if (kept.length > 0) return kept.toReversed().join('\n')
  return Buffer.from(lines.at(-1) ?? '')
    .subarray(-MOST)
    .toString()
    .replace(/^\uFFFD+/, '')
}
