import fs from 'node:fs'
import { errorMessage } from '../../lib/errors.ts'
import {
  type BootManager,
  type InstalledBoot,
  createRunCommand,
  currentUserName,
} from '../../world/boot/boot-manager.ts'
import type { BootManagerName } from '../../world/boot/manager-names.ts'
import { type BootCommand, bootName, createBootCommand } from '../../world/boot/boot-command.ts'
import { cronManager, isCronRunning } from '../../world/boot/cron.ts'
import { isLingerEnabled } from '../../world/boot/logind.ts'
import type { Home } from '../../state/home.ts'
import { launchdManager } from '../../world/boot/launchd.ts'
import { systemdManager } from '../../world/boot/systemd.ts'

/** The boot entries that start the supervisor with the machine, as `boot status --json` prints them. */
export interface BootReport {
  readonly installed: readonly BootEntry[]
  /** Null on a machine without logind. */
  readonly linger: boolean | null
  readonly problems: readonly BootProblem[]
}

interface BootEntry {
  readonly with: BootManagerName
  readonly where: string
  /** True if the entry is exactly the one that `boot install` would write now. */
  readonly isCurrent: boolean
  readonly noResume: boolean
  readonly program: string | null
}

interface BootProblem {
  readonly message: string
  readonly hint: string
}

export async function inspectBoot(home: Home, env: NodeJS.ProcessEnv): Promise<BootReport> {
  const linger = await isLingerEnabled(createRunCommand(env), currentUserName())
  const installed: BootEntry[] = []
  const problems: BootProblem[] = []
  for (const mechanism of mechanismsFor(home, env)) {
    try {
      const found = await mechanism.find()
      if (found === undefined) continue
      const faults = findFaults(
        mechanism,
        found,
        createBootCommand(home, env, { noResume: found.order?.noResume ?? false }),
      )
      installed.push(bootEntry(mechanism, found, faults.length === 0))
      problems.push(...faults, ...findSystemProblems(mechanism, linger))
    } catch (cause) {
      if ((await mechanism.whyUnavailable()) !== undefined) continue // A user who may not have a crontab has no line in it.
      problems.push({
        message: `${mechanism.name} cannot be looked at: ${errorMessage(cause)}`,
        hint: 'oneshot doctor',
      })
    }
  }
  if (installed.length > 1) problems.push(duplicateProblem(installed))
  return { installed, linger, problems }
}

export function lingerHint(): string {
  return `loginctl enable-linger ${currentUserName()} (with sudo where that is refused)`
}

function bootEntry({ name }: BootManager, { where, order }: InstalledBoot, isCurrent: boolean): BootEntry {
  return { with: name, where, isCurrent, noResume: order?.noResume ?? false, program: order?.program ?? null }
}

/** Finds the faults of an installed entry; `boot install` repairs each. */
function findFaults({ render }: BootManager, found: InstalledBoot, expected: BootCommand): BootProblem[] {
  const hint = 'oneshot boot install'
  const { order, where } = found
  if (order === undefined) return [{ message: `${where} does not start oneshot`, hint }]
  const missing = [order.node, order.program, order.keeper].find(file => !fs.existsSync(file))
  if (missing !== undefined) return [{ message: `${where} starts ${missing}, which does not exist`, hint }]
  const difference = (['program', 'node', 'home'] as const).find(part => order[part] !== expected[part])
  if (difference !== undefined) {
    return [
      { message: `${where} starts another oneshot: ${order[difference]}, this one has ${expected[difference]}`, hint },
    ]
  }
  // The current PATH may differ from the installed one; both are acceptable.
  const isUnchanged = render({ ...expected, path: order.path }) === found.text
  if (!isUnchanged) return [{ message: `${where} was changed, or written by another version`, hint }]
  return found.isEnabled ? [] : [{ message: `${where} is switched off`, hint }]
}

/** Finds the system settings that disable an intact entry. */
function findSystemProblems({ name }: BootManager, linger: boolean | null): BootProblem[] {
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

function duplicateProblem(installed: readonly BootEntry[]): BootProblem {
  const names = installed.map(entry => entry.with).join(' and ')
  return { message: `${names} both start it; one is enough`, hint: 'oneshot boot install' }
}

/** Returns the command that installs an entry if a mechanism is usable, else the thing to do instead. */
export async function installHint(home: Home, env: NodeJS.ProcessEnv): Promise<string> {
  const obstacles = await Promise.all(mechanismsFor(home, env).map(mechanism => mechanism.whyUnavailable()))
  return obstacles.includes(undefined)
    ? 'oneshot boot install'
    : 'nothing here can start programs at boot for you; arrange for "oneshot daemon start" to run at boot as your user'
}

/** Returns all mechanisms for this home, the best first. */
export function mechanismsFor(home: Home, env: NodeJS.ProcessEnv): readonly BootManager[] {
  const name = bootName(home)
  return [systemdManager(name, env), launchdManager(name, env), cronManager(name, env)]
}
