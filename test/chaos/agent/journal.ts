import fs from 'node:fs'
import { identifyProcess, checkLiveness, type ProcessId } from '../../../src/os/process/processes.ts'

/** What an agent says about itself, in a file that oneshot knows nothing of. */
export type Entry =
  /** A life began, at that many milliseconds of the machine's steady clock. */
  | { readonly kind: 'began'; readonly attempt: string; readonly process: ProcessId; readonly at: number }
  /** So many lines of this attempt's output are written. */
  | { readonly kind: 'wrote'; readonly attempt: string; readonly lines: number; readonly bytes: number }
  | { readonly kind: 'tool'; readonly attempt: string; readonly process: ProcessId }
  /** The turn is over: so many messages were read in all. */
  | { readonly kind: 'finished'; readonly attempt: string; readonly messages: number }
  /** It began while something of an earlier life was still alive. */
  | { readonly kind: 'conflict'; readonly attempt: string; readonly with: string }

/**
 * Appended by one write(2) each: what was said survives kill -9, because the kernel has it. It is not synced to the disk,
 * for nobody cuts the power here.
 */
export class Journal {
  readonly #fd: number
  readonly #attempt: string

  constructor(file: string, attempt: string) {
    this.#fd = fs.openSync(file, 'a', 0o600)
    this.#attempt = attempt
  }

  /** Says that a life begins, and looks for whatever of an earlier one still lives. */
  begin(file: string): void {
    const own = identifyProcess(process.pid) as ProcessId
    this.#note({ kind: 'began', attempt: this.#attempt, process: own, at: steadyNow() })
    for (const entry of readJournal(file, '"process"')) {
      if (!('process' in entry) || entry.attempt === this.#attempt) continue
      if (checkLiveness(entry.process) === 'alive')
        this.#note({
          kind: 'conflict',
          attempt: this.#attempt,
          with: `${entry.kind} ${entry.process.pid} of ${entry.attempt}`,
        })
    }
  }

  wrote(lines: number, bytes: number): void {
    this.#note({ kind: 'wrote', attempt: this.#attempt, lines, bytes })
  }

  tool(pid: number): void {
    const process = identifyProcess(pid)
    if (process !== undefined) this.#note({ kind: 'tool', attempt: this.#attempt, process })
  }

  finished(messages: number): void {
    this.#note({ kind: 'finished', attempt: this.#attempt, messages })
  }

  #note(entry: Entry): void {
    fs.writeSync(this.#fd, `${JSON.stringify(entry)}\n`)
  }
}

/** Nobody's clock jumps can move it, and all processes see the same. */
export function steadyNow(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

/** All entries, or those whose line holds a text: most of a journal tells of lines that were written. */
export function readJournal(file: string, text = ''): Entry[] {
  if (!fs.existsSync(file)) return []
  const lines = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.filter(line => line.includes(text)).map(line => JSON.parse(line) as Entry)
}
