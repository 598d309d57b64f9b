import fs from 'node:fs'
import { Trouble } from '../../../lib/trouble.ts'
import { which } from '../which.ts'
import { asker, must, wordsOfFailure } from './ask.ts'
import { type BootOrder, leastPath } from './boot-order.ts'
import { findLine, fits, readCronLine, renderCronLine, withLine, withoutLine } from './cron-line.ts'
import type { Installed, Mechanism } from './mechanism.ts'
import { userName } from './user-name.ts'

/** A line in the user's crontab. Everything else in it stays as it is, byte for byte. */
export function cron(name: string, env: NodeJS.ProcessEnv): Mechanism {
  const ask = asker(env)
  const where = `the crontab of ${userName()}`
  const render = (order: BootOrder): string => {
    const line = renderCronLine(name, order)
    return fits(line) ? line : renderCronLine(name, { ...order, path: leastPath(env) })
  }
  const list = async (): Promise<string> => {
    const answer = await ask('crontab', ['-l'])
    if (answer.code === 0) return answer.stdout
    if (/no crontab for|can't open/i.test(answer.stderr)) return '' // The latter is busybox.
    throw new Trouble('reading your crontab', wordsOfFailure(answer))
  }
  return {
    name: 'cron',
    where,
    render,
    async obstacle() {
      try {
        await list()
        return undefined
      } catch (cause) {
        return cause instanceof Error ? cause.message : String(cause)
      }
    },
    async find(): Promise<Installed | undefined> {
      if (which('crontab', env, '/') === undefined) return undefined
      const line = findLine(await list(), name)
      return line === undefined ? undefined : { where, text: line, order: readCronLine(line), isEnabled: true }
    },
    async install(order) {
      await must(ask, 'crontab', ['-'], withLine(await list(), name, render(order)))
    },
    async remove() {
      const rest = withoutLine(await list(), name)
      if (rest === '') await must(ask, 'crontab', ['-r'])
      else await must(ask, 'crontab', ['-'], rest)
      return { hasStopped: false }
    },
  }
}

/** Whether somebody is there to read crontabs; null where it cannot be told. */
export function isCronRunning(): boolean | null {
  try {
    const pids = fs.readdirSync('/proc').filter(entry => /^\d+$/.test(entry))
    return pids.some(pid => /^(cron|crond|fcron)$/.test(commandOf(pid)))
  } catch {
    return null // No /proc: macOS starts cron when there is a crontab.
  }
}

function commandOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return '' // It has ended meanwhile.
  }
}
