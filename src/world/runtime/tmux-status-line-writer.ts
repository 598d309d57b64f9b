import fs from 'node:fs'
import path from 'node:path'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'

/** Writes the text of each pane's status line into a small file named by the session id, only when the text changes. */
export class TmuxStatusLineWriter {
  readonly #folder: string
  readonly #written = new Map<string, string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  set(id: SessionId, line: string): void {
    if (this.#written.get(id) === line) return
    this.#written.set(id, line)
    try {
      const text = toOneLine(line).replaceAll('#', '＃') // tmux would expand `#` as a format.
      fs.writeFileSync(path.join(this.#folder, id), text, { mode: 0o600 })
    } catch {
      // A full disk loses only the text of a status line.
    }
  }

  remove(id: SessionId): void {
    this.#written.delete(id)
    fs.rmSync(path.join(this.#folder, id), { force: true })
  }
}
