import fs from 'node:fs'
import path from 'node:path'

/** What the demo agent remembers between its lives: one line for each thing that happened, on disk before it counts. */
export type ThreadEntry =
  | { readonly kind: 'prompt'; readonly text: string }
  /** Told that its process had ended: it goes on with the last prompt. */
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

  /** Everything remembered; undefined for a thread that never was. */
  readEntries(): ThreadEntry[] | undefined {
    if (!fs.existsSync(this.#file)) return undefined
    const lines = fs.readFileSync(this.#file, 'utf8').split('\n')
    return lines.slice(0, -1).map(line => JSON.parse(line) as ThreadEntry)
  }

  /** What belongs to the last prompt, the prompt first; nothing before there was one. */
  currentTurn(): ThreadEntry[] {
    const entries = this.readEntries() ?? []
    const begin = entries.findLastIndex(entry => entry.kind === 'prompt')
    return begin < 0 ? [] : entries.slice(begin)
  }
}
