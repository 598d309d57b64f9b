import fs from 'node:fs'
import path from 'node:path'
import { locateFiles } from '../../api/config/files.ts'
import type { Config } from '../../api/config/load-config.ts'
import type { RunRequest } from '../../api/contract/requests.ts'
import { openHome } from '../../world/os/home.ts'
import type { Line } from '../line/line.ts'
import type { Paint } from '../screen/paint.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** Tells once, where nobody has chosen it, what an agent with full autonomy may do. */
export function sayAutonomyOnce(
  { agent, autonomy, cwd }: RunRequest,
  line: Line,
  config: Config,
  { env, home, screen }: Surroundings,
): void {
  const isChosen = line.has(OPTIONS.autonomy) || config.autonomy.origin !== 'default'
  const isHarmless = agent === 'command' || agent === 'demo' || autonomy !== 'full'
  const isSilent = screen.isQuiet || line.has(OPTIONS.json)
  const marker = path.join(home.root, 'autonomy-told')
  if (isChosen || isHarmless || isSilent || fs.existsSync(marker)) return
  const { user } = locateFiles(env, cwd)
  for (const text of notice(agent, user, screen.err.paint)) screen.err.say(text)
  if (screen.err.closed.aborted) return
  try {
    openHome(home)
    fs.writeFileSync(marker, '', { mode: 0o600 })
  } catch {
    // A folder that cannot be written has worse to tell, and is told elsewhere; the notice is only shown once more.
  }
}

function notice(agent: string, file: string, paint: Paint): string[] {
  return [
    `${paint.yellow('note:')} ${agent} works with full autonomy: without asking, it may change any file and run any command.`,
    '      For less: --autonomy edits (it may change files) or --autonomy ask (it may only look);',
    `      for good: autonomy = "edits" in ${file}. This is said only once.`,
  ]
}
