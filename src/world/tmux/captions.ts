import fs from 'node:fs'
import path from 'node:path'
import { oneLine } from '../../lib/terminal-text.ts'

/** What the status lines of the panes say about their sessions: one small file each, named by its id, written when it changes. */
export class Captions {
  readonly #folder: string
  readonly #shown = new Map<string, string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  set(id: string, line: string): void {
    if (this.#shown.get(id) === line) return
    this.#shown.set(id, line)
    try {
      const text = oneLine(line).replaceAll('#', '＃') // tmux would take it for a format.
      fs.writeFileSync(path.join(this.#folder, id), text, { mode: 0o600 })
    } catch {
      // A full disk: nobody but a status line misses it.
    }
  }

  remove(id: string): void {
    this.#shown.delete(id)
    fs.rmSync(path.join(this.#folder, id), { force: true })
  }
}
