import fs from 'node:fs'
import path from 'node:path'
import { findDaemon, startDaemon, stopDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { checkClone, updateClone } from '../update/clone.ts'
import { checkNpm, updateNpm } from '../update/npm.ts'
import { packageRoot } from '../update/package-root.ts'
import { VERSION } from '../../lib/version.ts'

/** Everything it needs is loaded before it begins: the files it was loaded from are replaced under it. */
export async function update(line: Line, { screen, home }: Surroundings): Promise<number> {
  const { out, err } = screen
  const root = packageRoot()
  const isClone = fs.existsSync(path.join(root, '.git'))
  if (line.has(OPTIONS.check)) {
    const news = isClone ? await checkClone(root) : await checkNpm()
    const { isNew, text } = news
    out.say(line.has(OPTIONS.json) ? toJson({ version: VERSION, isNew, text, root }) : `${VERSION}: ${text}`)
    return 0
  }
  const say = (text: string): void => {
    if (err.isTerminal && !screen.isQuiet) err.say(text)
  }
  const change = isClone ? await updateClone(root, say) : await updateNpm(root, say)
  const version = versionIn(root)
  const running = await findDaemon(home)
  if (running !== undefined && (change !== undefined || running.version !== version)) {
    say('restarting the supervisor …')
    await stopDaemon(home, running)
    await startDaemon(home)
  }
  const versions = version === VERSION ? version : `${VERSION} → ${version}`
  const text = change === undefined ? `up to date: ${version}` : `updated: ${versions} (${change})`
  out.say(line.has(OPTIONS.json) ? toJson({ version, previous: VERSION, change: change ?? null, root }) : text)
  return 0
}

function versionIn(root: string): string {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
  return version
}
