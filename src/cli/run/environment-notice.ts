import fs from 'node:fs'
import path from 'node:path'
import { canExport } from '../../lib/quote.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { openHome } from '../../world/os/home.ts'
import type { Surroundings } from '../surroundings.ts'

/** Names, once each, the variables that a shell cannot export: the program does not get them. */
export function sayLeftOut(env: Readonly<Record<string, string>>, { home, screen }: Surroundings): void {
  const names = Object.keys(env).filter(name => !canExport(name))
  if (names.length === 0 || screen.isQuiet) return
  const marker = path.join(home.root, 'variables-told')
  try {
    openHome(home)
    const told = fs.existsSync(marker) ? fs.readFileSync(marker, 'utf8').split('\n') : []
    const fresh = names.map(oneLine).filter(name => !told.includes(name))
    if (fresh.length === 0) return
    const list = fresh.slice(0, 5).join(', ') + (fresh.length > 5 ? ` and ${fresh.length - 5} more` : '')
    screen.err.say(
      `${screen.err.paint.yellow('note:')} the program does not get ${list}: a shell cannot export such names.`,
    )
    fs.appendFileSync(marker, `${fresh.join('\n')}\n`, { mode: 0o600 })
  } catch {
    // A folder that cannot be written has worse to tell; the note is only shown once more.
  }
}
