import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { replaceFile } from '../files.ts'
import { type Ask, asker, must, wordsOfFailure } from './ask.ts'
import type { Installed, Mechanism } from './mechanism.ts'
import { readUnit, renderUnit } from './systemd-unit.ts'

/** A unit of the user's own service manager. It is started at boot for a user who lingers, else at the first login. */
export function systemd(name: string, env: NodeJS.ProcessEnv): Mechanism {
  // Looked for each time: lingering, switched on, makes the folder.
  const ask: Ask = (...words) => asker(withRuntimeFolder(env))(...words)
  const unit = `${name}.service`
  const folder = path.join(configFolder(env), 'systemd', 'user')
  const where = path.join(folder, unit)
  const link = path.join(folder, 'default.target.wants', unit)
  const systemctl = (...words: string[]): Promise<string> => must(ask, 'systemctl', ['--user', ...words])
  return {
    name: 'systemd',
    where,
    obstacle: () => obstacle(ask),
    render: renderUnit,
    async find(): Promise<Installed | undefined> {
      if (!fs.existsSync(where)) return undefined
      const text = fs.readFileSync(where, 'utf8')
      return { where, text, order: readUnit(text), isEnabled: isThere(link) }
    },
    async install(order) {
      fs.mkdirSync(folder, { recursive: true })
      replaceFile(where, renderUnit(order))
      await systemctl('daemon-reload')
      await systemctl('enable', '--quiet', unit)
      await ask('systemctl', ['--user', 'reset-failed', unit]) // Nothing to forget is no failure.
    },
    async start() {
      await systemctl('start', unit)
    },
    async remove() {
      if ((await obstacle(ask)) !== undefined) {
        for (const file of [link, where]) fs.rmSync(file, { force: true })
        return { hasStopped: false }
      }
      // Without its file a unit has the usual settings, and those end all it has ever started. So it is stopped before.
      const hasStopped = (await ask('systemctl', ['--user', 'is-active', '--quiet', unit])).code === 0
      if (hasStopped) await systemctl('stop', unit)
      await systemctl('disable', '--quiet', unit)
      fs.rmSync(where, { force: true })
      await systemctl('daemon-reload')
      await ask('systemctl', ['--user', 'reset-failed', unit])
      return { hasStopped }
    },
  }
}

async function obstacle(ask: Ask): Promise<string | undefined> {
  const answer = await ask('systemctl', ['--user', 'show-environment'])
  return answer.code === 0 ? undefined : `no service manager of yours answers: ${wordsOfFailure(answer)}`
}

/** `su` and `sudo` take the variable away, and the folder is there. */
function withRuntimeFolder(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folder = `/run/user/${process.getuid?.()}`
  return env['XDG_RUNTIME_DIR'] || !fs.existsSync(folder) ? env : { ...env, XDG_RUNTIME_DIR: folder }
}

function configFolder(env: NodeJS.ProcessEnv): string {
  const { XDG_CONFIG_HOME, HOME } = env
  if (XDG_CONFIG_HOME && path.isAbsolute(XDG_CONFIG_HOME)) return XDG_CONFIG_HOME
  return path.join(HOME || os.homedir(), '.config')
}

/** Also a link that leads nowhere. */
function isThere(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
}
