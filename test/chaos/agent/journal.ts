import fs from 'node:fs'
import { identifyProcess, checkLiveness, type ProcessId } from '../../../src/os/process/processes.ts'

/** The agent's own record, in a file unknown to oneshot. */
export type Entry =
  /** A process started, at this many milliseconds of the machine's monotonic clock. */
  | { readonly kind: 'began'; readonly attempt: string; readonly process: ProcessId; readonly at: number }
  /** This many lines of this attempt's output are written. */
  | { readonly kind: 'wrote'; readonly attempt: string; readonly lines: number; readonly bytes: number }
  | { readonly kind: 'tool'; readonly attempt: string; readonly process: ProcessId }
  /** The turn is over: the agent has read this many messages in all. */
  | { readonly kind: 'finished'; readonly attempt: string; readonly messages: number }
  /** The process started while an earlier process of the session was still alive. */
  | { readonly kind: 'conflict'; readonly attempt: string; readonly with: string }

/**
 * Appends each entry with one write(2): an entry survives kill -9, because the kernel has it. The journal does not sync
 * to disk, because the suite cuts no power.
 */
export class Journal {
  readonly #fd: number
  readonly #attempt: string

  constructor(file: string, attempt: string) {
    this.#fd = fs.openSync(file, 'a', 0o600)
    this.#attempt = attempt
  }

  /** Records the start of a process, and looks for living processes of an earlier attempt. */
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

/** Returns the monotonic clock: clock jumps do not move it, and all processes see the same. */
export function steadyNow(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

/** Returns all entries, or those whose line contains a text: most entries concern written lines. */
export function readJournal(file: string, text = ''): Entry[] {
  if (!fs.existsSync(file)) return []
  const lines = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.filter(line => line.includes(text)).map(line => JSON.parse(line) as Entry)
}
