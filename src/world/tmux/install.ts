import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { asset } from '../os/assets.ts'
import { replaceFile, replaceIfChanged } from '../os/files.ts'
import type { Home } from '../os/home.ts'
import { TMUX_CONFIG } from './config.ts'

/**
 * Puts the programs of the work plane into the home. Their names carry their content's hash: a running shim keeps the
 * file it was started from, whatever is updated meanwhile.
 */
export function installPrograms(home: Home): { shim: string; recorder: string } {
  replaceIfChanged(home.tmuxConfig, TMUX_CONFIG)
  return { shim: install(home, 'shim.sh'), recorder: install(home, 'recorder.sh') }
}

function install(home: Home, name: string): string {
  const content = fs.readFileSync(asset(name))
  const hash = crypto.createHash('sha256').update(content).digest('hex').slice(0, 12)
  const file = path.join(home.programs, `${path.basename(name, '.sh')}-${hash}`)
  if (!fs.existsSync(file)) replaceFile(file, content)
  return file
}
