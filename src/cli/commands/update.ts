import fs from 'node:fs'
import path from 'node:path'
import { findDaemon, startDaemon, stopDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { checkClone, updateClone } from '../update/update-git-clone.ts'
import { checkNpm, updateNpm } from '../update/update-npm-package.ts'
import { packageRoot, readPackageVersion } from '../update/update-npm-package.ts'
import { VERSION } from '../../lib/version.ts'

export const command: Command = {
  name: 'update',
  group: 'Supervisor',
  order: 40,
  summary: 'install the newest version; running work is not touched',
  about: `A clone is fast-forwarded and rebuilt; an npm installation is updated by npm. Then the
supervisor is restarted. Running work is not touched.`,
  arguments: [],
  options: [OPTIONS.check, OPTIONS.json],
  examples: [
    { argv: ['update', '--check'], description: 'is there something new?' },
    { argv: ['update'], description: 'install it' },
  ],
  run: update,
}

/** Loads every needed module before it begins, because the update replaces the files of this program. */
async function update(args: ParsedArgs, { screen, home, env }: CommandContext): Promise<number> {
  const { out, err } = screen
  const root = packageRoot()
  const place = { cwd: root, env }
  const isClone = fs.existsSync(path.join(root, '.git'))
  if (args.has(OPTIONS.check)) {
    const status = isClone ? await checkClone(place) : await checkNpm(env)
    const { isNew, text } = status
    out.printLine(args.has(OPTIONS.json) ? toJson({ version: VERSION, isNew, text, root }) : `${VERSION}: ${text}`)
    return 0
  }
  const printProgress = (text: string): void => {
    if (err.isTerminal && !screen.isQuiet) err.printLine(text)
  }
  const change = isClone ? await updateClone(place, printProgress) : await updateNpm(place, printProgress)
  const version = readPackageVersion(root)
  const running = await findDaemon(home)
  if (running !== undefined && (change !== undefined || running.version !== version)) {
    printProgress('restarting the supervisor …')
    await stopDaemon(home, running)
    await startDaemon({ home, env })
  }
  const versions = version === VERSION ? version : `${VERSION} → ${version}`
  const text = change === undefined ? `up to date: ${version}` : `updated: ${versions} (${change})`
  out.printLine(args.has(OPTIONS.json) ? toJson({ version, previous: VERSION, change: change ?? null, root }) : text)
  return 0
}
