import fs from 'node:fs'
import path from 'node:path'
import { oneLine } from '../../lib/terminal-text.ts'

/** What the status lines of the panes say about their sessions: one small file each, written when it changes. */
export class Captions {
  readonly #folder: string
  readonly #shown = new Map<string, string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  set(name: string, line: string): void {
    if (this.#shown.get(name) === line) return
    this.#shown.set(name, line)
    try {
      const text = oneLine(line).replaceAll('#', '＃') // tmux would take it for a format.
      fs.writeFileSync(path.join(this.#folder, name), text, { mode: 0o600 })
    } catch {
      // A full disk: nobody but a status line misses it.
    }
  }

  remove(name: string): void {
    this.#shown.delete(name)
    fs.rmSync(path.join(this.#folder, name), { force: true })
  }
}
