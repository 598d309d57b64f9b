import { setTimeout as pause } from 'node:timers/promises'
import { refusal } from '../../api/contract/problems.ts'
import type { Duration } from '../../lib/time.ts'
import { createRunCommand } from '../../world/boot/boot-manager.ts'
import { isCronRunning } from '../../world/boot/cron.ts'
import { enableLinger, isLingerEnabled } from '../../world/boot/logind.ts'
import type { BootManager } from '../../world/boot/boot-manager.ts'
import type { BootManagerName } from '../../world/boot/manager-names.ts'
import { currentUserName } from '../../world/boot/boot-manager.ts'
import { which } from '../../os/which.ts'

export interface MechanismChoice {
  readonly mechanism: BootManager
  /** True if the mechanism works under the current conditions. */
  readonly isReady: boolean
  /** The facts that a person should know. */
  readonly notes: readonly string[]
}

/** Starting a user's manager takes a fraction of a second. */
const MANAGER_TIMEOUT: Duration = 5_000

interface ChooseOptions {
  readonly with: BootManagerName | undefined
  readonly env: NodeJS.ProcessEnv
  /** True if the command must not change anything. */
  readonly dryRun: boolean
}

/**
 * Returns the requested mechanism, or the best that works here. Without lingering a unit is worse than a crontab: its
 * manager ends at logout, and ends the agents with it.
 */
export async function chooseMechanism(all: readonly BootManager[], options: ChooseOptions): Promise<MechanismChoice> {
  const usable: MechanismChoice[] = []
  const obstacles: string[] = []
  for (const mechanism of all.filter(({ name }) => options.with === undefined || name === options.with)) {
    const found = await checkMechanism(mechanism, options)
    if (typeof found !== 'string') usable.push(found)
    else if (options.dryRun && options.with !== undefined) return unusableChoice(mechanism, found)
    else if (options.with !== undefined || isRelevantHere(mechanism, options.env))
      obstacles.push(`${mechanism.name}: ${found}`)
    if (usable.at(-1)?.isReady) break
  }
  const best = usable.find(({ isReady }) => isReady) ?? usable[0]
  if (best === undefined) throw noMechanism(obstacles)
  const rejected = usable.filter(({ mechanism }) => mechanism !== best.mechanism)
  return { ...best, notes: [...rejected.flatMap(({ notes }) => notes), ...best.notes] }
}

/** A refusal on Linux need not mention launchd. */
function isRelevantHere({ name }: BootManager, env: NodeJS.ProcessEnv): boolean {
  return name !== 'launchd' || which('launchctl', env, '/') !== undefined
}

/** Returns the choice for a usable mechanism, or the reason why it is not usable. */
async function checkMechanism(mechanism: BootManager, options: ChooseOptions): Promise<MechanismChoice | string> {
  const obstacle = await mechanism.whyUnavailable()
  if (mechanism.name === 'systemd') return await checkSystemd(mechanism, options, obstacle)
  if (obstacle !== undefined) return obstacle
  if (mechanism.name === 'launchd') {
    return { mechanism, isReady: true, notes: ['launchd starts it when you log in, not before'] }
  }
  const isReady = isCronRunning() !== false
  const notes = isReady ? [] : ['no cron is running here; start it, or the line does nothing: service cron start']
  return { mechanism, isReady, notes }
}

/** No manager runs for a user who is not logged in, until lingering starts one. */
async function checkSystemd(
  mechanism: BootManager,
  options: ChooseOptions,
  obstacle: string | undefined,
): Promise<MechanismChoice | string> {
  if (which('systemctl', options.env, '/') === undefined) return obstacle ?? 'systemctl is not on PATH'
  const { hasBegun, ...linger } = await ensureLinger(options)
  const remaining = obstacle !== undefined && hasBegun ? await waitForManager(mechanism) : obstacle
  return remaining ?? { mechanism, ...linger }
}

async function waitForManager(mechanism: BootManager): Promise<string | undefined> {
  const end = Date.now() + MANAGER_TIMEOUT
  for (;;) {
    const obstacle = await mechanism.whyUnavailable()
    if (obstacle === undefined || Date.now() > end) return obstacle
    await pause(100)
  }
}

/** `hasBegun` is true if this call has enabled lingering. */
async function ensureLinger(options: ChooseOptions): Promise<{ isReady: boolean; notes: string[]; hasBegun: boolean }> {
  const ask = createRunCommand(options.env)
  const user = currentUserName()
  const ready = (...notes: string[]) => ({ isReady: true, notes, hasBegun: false })
  if ((await isLingerEnabled(ask, user)) !== false) return ready()
  if (options.dryRun) return ready(`would be called, so that it starts without a login: loginctl enable-linger ${user}`)
  const error = await enableLinger(ask, user)
  if (error === undefined) {
    return {
      ...ready(`${user} now lingers: your service manager starts at boot and stays after logout`),
      hasBegun: true,
    }
  }
  const note = `lingering could not be switched on for you (${error}); without it a unit starts at your first login and ends at your last logout: sudo loginctl enable-linger ${user}`
  return { isReady: false, notes: [note], hasBegun: false }
}

function unusableChoice(mechanism: BootManager, reason: string): MechanismChoice {
  return { mechanism, isReady: false, notes: [`it cannot be used here: ${reason}`] }
}

function noMechanism(obstacles: readonly string[]): Error {
  return refusal(
    'boot-impossible',
    `nothing here can start the supervisor with the machine (${obstacles.join('; ')})`,
    'arrange for "oneshot daemon start" to run at boot as your user',
  )
}
