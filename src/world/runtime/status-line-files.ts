import fs from 'node:fs'
import path from 'node:path'
import { toOneLine } from '../../lib/text/terminal-text.ts'

/** What the status lines of the panes say about their sessions: one small file each, named by its id, written when it changes. */
export class StatusLineFiles {
  readonly #folder: string
  readonly #written = new Map<string, string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  set(id: string, line: string): void {
    if (this.#written.get(id) === line) return
    this.#written.set(id, line)
    try {
      const text = toOneLine(line).replaceAll('#', '＃') // tmux would take it for a format.
      fs.writeFileSync(path.join(this.#folder, id), text, { mode: 0o600 })
    } catch {
      // A full disk: nobody but a status line misses it.
    }
  }

  remove(id: string): void {
    this.#written.delete(id)
    fs.rmSync(path.join(this.#folder, id), { force: true })
  }
}
