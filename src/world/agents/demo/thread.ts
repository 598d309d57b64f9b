import fs from 'node:fs'
import path from 'node:path'

/** An entry of the demo agent's thread file, which outlives its processes. An entry counts once it is on disk. */
export type ThreadEntry =
  | { readonly kind: 'prompt'; readonly text: string }
  /** oneshot reported that the process had ended: the agent continues with the last prompt. */
  | { readonly kind: 'go-on'; readonly text: string }
  | { readonly kind: 'step'; readonly step: number }
  | { readonly kind: 'misfortune'; readonly what: 'crash' | 'hang' }
  | { readonly kind: 'answer'; readonly text: string }

export class DemoThread {
  readonly id: string
  readonly #file: string

  constructor(folder: string, id: string) {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.id = id
    this.#file = path.join(folder, `${id}.jsonl`)
  }

  append(entry: ThreadEntry): void {
    const fd = fs.openSync(this.#file, 'a', 0o600)
    try {
      fs.writeSync(fd, `${JSON.stringify(entry)}\n`)
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  }

  /** Returns all entries, or undefined for a thread that never existed. */
  readEntries(): ThreadEntry[] | undefined {
    if (!fs.existsSync(this.#file)) return undefined
    const lines = fs.readFileSync(this.#file, 'utf8').split('\n')
    return lines.slice(0, -1).map(line => JSON.parse(line) as ThreadEntry)
  }

  /** Returns the entries of the last prompt, beginning with the prompt; empty before the first prompt. */
  currentTurn(): ThreadEntry[] {
    const entries = this.readEntries() ?? []
    const begin = entries.findLastIndex(entry => entry.kind === 'prompt')
    return begin < 0 ? [] : entries.slice(begin)
  }
}
