import path from 'node:path'
import type { SessionView } from '../../api/contract/responses.ts'
import { renderTerminalText } from '../../lib/text/strip-terminal-controls.ts'
import { sessionMask } from '../../views/final-output.ts'
import { sessionFolder } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { readLastLines } from '../terminal/read-last-lines.ts'

/** The end is the most informative part; the file contains the rest. */
const SHOWN_LINES = 10

/** Returns the last lines of the check of an unproven session, with hidden secrets; empty if no check ran. */
export function checkOutputLines(home: Home, { id, trouble }: SessionView): string[] {
  if (trouble !== 'unproven') return []
  const output = readLastLines(path.join(sessionFolder(home, id).root, 'checks', 'end.log'), SHOWN_LINES)
  const mask = sessionMask(home, id)
  return output.map(line => `  │ ${renderTerminalText(mask.maskText(line), { colour: false })}`)
}
