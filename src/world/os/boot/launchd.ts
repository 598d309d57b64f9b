import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { replaceFile } from '../files.ts'
import { asker, must, wordsOfFailure } from './ask.ts'
import { readPlist, renderPlist } from './launchd-plist.ts'
import type { Installed, Mechanism } from './mechanism.ts'

/** An agent of launchd, which loads it when its user logs in. */
export function launchd(name: string, env: NodeJS.ProcessEnv): Mechanism {
  const ask = asker(env)
  const label = `${name}.supervisor`
  const domain = `gui/${process.getuid?.()}`
  const folder = path.join(env['HOME'] || os.homedir(), 'Library', 'LaunchAgents')
  const where = path.join(folder, `${label}.plist`)
  const isLoaded = async (): Promise<boolean> => (await ask('launchctl', ['print', `${domain}/${label}`])).code === 0
  return {
    name: 'launchd',
    where,
    render: order => renderPlist(label, order),
    async obstacle() {
      const answer = await ask('launchctl', ['print', domain])
      return answer.code === 0 ? undefined : `launchd does not answer for ${domain}: ${wordsOfFailure(answer)}`
    },
    async find(): Promise<Installed | undefined> {
      if (!fs.existsSync(where)) return undefined
      const text = fs.readFileSync(where, 'utf8')
      const { stdout } = await ask('launchctl', ['print-disabled', domain])
      const isEnabled = !new RegExp(`"${label}" => (true|disabled)`).test(stdout)
      return { where, text, order: readPlist(text), isEnabled }
    },
    async install(order) {
      fs.mkdirSync(folder, { recursive: true })
      replaceFile(where, renderPlist(label, order))
      await must(ask, 'launchctl', ['enable', `${domain}/${label}`])
    },
    async start() {
      if (await isLoaded()) await must(ask, 'launchctl', ['bootout', `${domain}/${label}`])
      await must(ask, 'launchctl', ['bootstrap', domain, where])
    },
    async remove() {
      // Ends the keeper alone; the supervisor gives itself another.
      if (await isLoaded()) await must(ask, 'launchctl', ['bootout', `${domain}/${label}`])
      fs.rmSync(where, { force: true })
      return { hasStopped: false }
    },
  }
}
