import fs from 'node:fs'
import path from 'node:path'
import type { ThreadId } from '../../../core/session/conversation.ts'
import { count, object, oneOf, parseJson, type Parser, string } from '../../../lib/codec.ts'

/** An entry of the demo agent's thread file, which outlives its processes. An entry counts once it is on disk. */
export type ThreadEntry =
  | { readonly kind: 'prompt'; readonly text: string }
  /** oneshot reported that the process had ended: the agent continues with the last prompt. */
  | { readonly kind: 'go-on'; readonly text: string }
  | { readonly kind: 'step'; readonly step: number }
  | { readonly kind: 'misfortune'; readonly what: 'crash' | 'hang' }
  | { readonly kind: 'answer'; readonly text: string }

const PARSERS: { readonly [K in ThreadEntry['kind']]: Parser<Extract<ThreadEntry, { kind: K }>> } = {
  prompt: object({ kind: oneOf('prompt'), text: string }),
  'go-on': object({ kind: oneOf('go-on'), text: string }),
  step: object({ kind: oneOf('step'), step: count }),
  misfortune: object({ kind: oneOf('misfortune'), what: oneOf('crash', 'hang') }),
  answer: object({ kind: oneOf('answer'), text: string }),
}
const parseKind = object({ kind: oneOf('prompt', 'go-on', 'step', 'misfortune', 'answer') })

function parseEntry(value: unknown): ThreadEntry {
  return PARSERS[parseKind(value).kind](value)
}

export class DemoThread {
  readonly id: ThreadId
  readonly #file: string

  constructor(folder: string, id: ThreadId) {
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
    return lines.slice(0, -1).map(line => parseJson(line, parseEntry))
  }

  /** Returns the entries of the last prompt, beginning with the prompt; empty before the first prompt. */
  currentTurn(): ThreadEntry[] {
    const entries = this.readEntries() ?? []
    const begin = entries.findLastIndex(entry => entry.kind === 'prompt')
    return begin < 0 ? [] : entries.slice(begin)
  }
}
