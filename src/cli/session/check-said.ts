import path from 'node:path'
import type { SessionView } from '../../api/contract/session-view.ts'
import { secretsIn } from '../../lib/mask/env-secrets.ts'
import { Mask } from '../../lib/mask/mask.ts'
import { readable } from '../../lib/terminal-text.ts'
import { environmentOf } from '../../views/last-words.ts'
import { sessionFolder } from '../../world/os/folders.ts'
import type { Home } from '../../world/os/home.ts'
import { tailOf } from '../tail-of.ts'

/** The end is what tells; the rest is in the file. */
const LINES = 10

/** What the check said at the end of a session that is not proven, secrets hidden; no lines where none was run. */
export function checkSaid(home: Home, { id, trouble }: SessionView): string[] {
  if (trouble !== 'unproven') return []
  const said = tailOf(path.join(sessionFolder(home, id).root, 'checks', 'end.log'), LINES)
  const mask = new Mask(secretsIn(environmentOf(home, id)))
  return said.map(line => `  │ ${readable(mask.hide(line), { colour: false })}`)
}
