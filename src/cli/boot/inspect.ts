import fs from 'node:fs'
import { wordsOf } from '../../lib/trouble.ts'
import { asker } from '../../world/os/boot/ask.ts'
import { type BootOrder, bootOrder } from '../../world/os/boot/boot-order.ts'
import { isCronRunning } from '../../world/os/boot/cron.ts'
import { lingers } from '../../world/os/boot/logind.ts'
import type { Installed, Mechanism, MechanismName } from '../../world/os/boot/mechanism.ts'
import { userName } from '../../world/os/boot/user-name.ts'
import type { Home } from '../../world/os/home.ts'
import { mechanismsFor } from './mechanisms.ts'

/** What starts the supervisor with the machine, as `boot status --json` prints it. */
export interface BootReport {
  readonly installed: readonly BootEntry[]
  /** Null where there is no logind. */
  readonly linger: boolean | null
  readonly problems: readonly BootProblem[]
}

interface BootEntry {
  readonly with: MechanismName
  readonly where: string
  /** Whether it is exactly what `boot install` would write now. */
  readonly isCurrent: boolean
  readonly noResume: boolean
  readonly program: string | null
}

interface BootProblem {
  readonly message: string
  readonly hint: string
}

export async function inspect(home: Home, env: NodeJS.ProcessEnv): Promise<BootReport> {
  const linger = await lingers(asker(env), userName())
  const installed: BootEntry[] = []
  const problems: BootProblem[] = []
  for (const mechanism of mechanismsFor(home, env)) {
    try {
      const found = await mechanism.find()
      if (found === undefined) continue
      const faults = faultsOf(mechanism, found, bootOrder(home, env, { noResume: found.order?.noResume ?? false }))
      installed.push(entryOf(mechanism, found, faults.length === 0))
      problems.push(...faults, ...surroundingsOf(mechanism, linger))
    } catch (cause) {
      if ((await mechanism.obstacle()) !== undefined) continue // Whoever may not have a crontab has no line in it.
      problems.push({ message: `${mechanism.name} cannot be looked at: ${wordsOf(cause)}`, hint: 'oneshot doctor' })
    }
  }
  if (installed.length > 1) problems.push(tooMany(installed))
  return { installed, linger, problems }
}

export function lingerHint(): string {
  return `loginctl enable-linger ${userName()} (with sudo where that is refused)`
}

function entryOf({ name }: Mechanism, { where, order }: Installed, isCurrent: boolean): BootEntry {
  return { with: name, where, isCurrent, noResume: order?.noResume ?? false, program: order?.program ?? null }
}

/** What is wrong with what was written down; `boot install` mends each. */
function faultsOf({ render }: Mechanism, found: Installed, now: BootOrder): BootProblem[] {
  const hint = 'oneshot boot install'
  const { order, where } = found
  if (order === undefined) return [{ message: `${where} does not start oneshot`, hint }]
  const missing = [order.node, order.program, order.keeper].find(file => !fs.existsSync(file))
  if (missing !== undefined) return [{ message: `${where} starts ${missing}, which does not exist`, hint }]
  const differs = (['program', 'node', 'home'] as const).find(part => order[part] !== now[part])
  if (differs !== undefined) {
    return [{ message: `${where} starts another oneshot: ${order[differs]}, this one has ${now[differs]}`, hint }]
  }
  // The PATH of this moment may be another one than the PATH of that; both are good enough.
  const isAsWeWrite = render({ ...now, path: order.path }) === found.text
  if (!isAsWeWrite) return [{ message: `${where} was changed, or written by another version`, hint }]
  return found.isEnabled ? [] : [{ message: `${where} is switched off`, hint }]
}

/** What keeps it from doing its part although it is in order itself. */
function surroundingsOf({ name }: Mechanism, linger: boolean | null): BootProblem[] {
  if (name === 'systemd' && linger === false) {
    const message =
      'lingering is off for you: your service manager starts at your first login, and ends at your last logout with all it started'
    return [{ message, hint: lingerHint() }]
  }
  if (name === 'cron' && isCronRunning() === false) {
    return [{ message: 'no cron is running that would read the crontab', hint: 'start it: service cron start' }]
  }
  return []
}

function tooMany(installed: readonly BootEntry[]): BootProblem {
  const names = installed.map(entry => entry.with).join(' and ')
  return { message: `${names} both start it; one is enough`, hint: 'oneshot boot install' }
}

/** The command that installs it where something can be installed, and else what to do instead. */
export async function wayToInstall(home: Home, env: NodeJS.ProcessEnv): Promise<string> {
  const obstacles = await Promise.all(mechanismsFor(home, env).map(mechanism => mechanism.obstacle()))
  return obstacles.includes(undefined)
    ? 'oneshot boot install'
    : 'nothing here can start programs at boot for you; arrange for "oneshot daemon start" to run at boot as your user'
}
