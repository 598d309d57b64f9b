import { setTimeout as pause } from 'node:timers/promises'
import { refusal } from '../../api/contract/problems.ts'
import type { Duration } from '../../lib/time.ts'
import { asker } from '../../world/os/boot/ask.ts'
import { isCronRunning } from '../../world/os/boot/cron.ts'
import { enableLinger, lingers } from '../../world/os/boot/logind.ts'
import type { Mechanism, MechanismName } from '../../world/os/boot/mechanism.ts'
import { userName } from '../../world/os/boot/user-name.ts'
import { which } from '../../world/os/which.ts'

export interface Choice {
  readonly mechanism: Mechanism
  /** Whether it does its part as things are. */
  readonly isReady: boolean
  /** What a person should know. */
  readonly notes: readonly string[]
}

/** Starting a user's manager takes a fraction of a second. */
const MANAGER_PATIENCE: Duration = 5_000

interface Wish {
  readonly with: MechanismName | undefined
  readonly env: NodeJS.ProcessEnv
  /** Nothing may be changed. */
  readonly dryRun: boolean
}

/**
 * The wanted way, or the best that works here. Without lingering a unit is worse than a crontab: its manager ends at
 * logout, and ends the agents with it.
 */
export async function choose(all: readonly Mechanism[], wish: Wish): Promise<Choice> {
  const usable: Choice[] = []
  const obstacles: string[] = []
  for (const mechanism of all.filter(({ name }) => wish.with === undefined || name === wish.with)) {
    const found = await examine(mechanism, wish)
    if (typeof found !== 'string') usable.push(found)
    else if (wish.dryRun && wish.with !== undefined) return unusable(mechanism, found)
    else if (wish.with !== undefined || isOfThisSystem(mechanism, wish.env))
      obstacles.push(`${mechanism.name}: ${found}`)
    if (usable.at(-1)?.isReady) break
  }
  const best = usable.find(({ isReady }) => isReady) ?? usable[0]
  if (best === undefined) throw nothingWorks(obstacles)
  const passedOver = usable.filter(({ mechanism }) => mechanism !== best.mechanism)
  return { ...best, notes: [...passedOver.flatMap(({ notes }) => notes), ...best.notes] }
}

/** Nobody on Linux wants to hear of launchd. */
function isOfThisSystem({ name }: Mechanism, env: NodeJS.ProcessEnv): boolean {
  return name !== 'launchd' || which('launchctl', env, '/') !== undefined
}

/** What is to be known about a way that can be gone, or why it cannot. */
async function examine(mechanism: Mechanism, wish: Wish): Promise<Choice | string> {
  const why = await mechanism.obstacle()
  if (mechanism.name === 'systemd') return await examineSystemd(mechanism, wish, why)
  if (why !== undefined) return why
  if (mechanism.name === 'launchd') {
    return { mechanism, isReady: true, notes: ['launchd starts it when you log in, not before'] }
  }
  const isReady = isCronRunning() !== false
  const notes = isReady ? [] : ['no cron is running here; start it, or the line does nothing: service cron start']
  return { mechanism, isReady, notes }
}

/** Of a user who is not logged in no manager runs, until lingering starts one. */
async function examineSystemd(mechanism: Mechanism, wish: Wish, why: string | undefined): Promise<Choice | string> {
  if (which('systemctl', wish.env, '/') === undefined) return why ?? 'systemctl is not on PATH'
  const { hasBegun, ...linger } = await prepareLinger(wish)
  const left = why !== undefined && hasBegun ? await withPatience(mechanism) : why
  return left ?? { mechanism, ...linger }
}

async function withPatience(mechanism: Mechanism): Promise<string | undefined> {
  const end = Date.now() + MANAGER_PATIENCE
  for (;;) {
    const why = await mechanism.obstacle()
    if (why === undefined || Date.now() > end) return why
    await pause(100)
  }
}

/** `hasBegun`: we have just switched it on. */
async function prepareLinger(wish: Wish): Promise<{ isReady: boolean; notes: string[]; hasBegun: boolean }> {
  const ask = asker(wish.env)
  const user = userName()
  const ready = (...notes: string[]) => ({ isReady: true, notes, hasBegun: false })
  if ((await lingers(ask, user)) !== false) return ready()
  if (wish.dryRun) return ready(`would be called, so that it starts without a login: loginctl enable-linger ${user}`)
  const why = await enableLinger(ask, user)
  if (why === undefined) {
    return {
      ...ready(`${user} now lingers: your service manager starts at boot and stays after logout`),
      hasBegun: true,
    }
  }
  const note = `lingering could not be switched on for you (${why}); without it a unit starts at your first login and ends at your last logout: sudo loginctl enable-linger ${user}`
  return { isReady: false, notes: [note], hasBegun: false }
}

function unusable(mechanism: Mechanism, why: string): Choice {
  return { mechanism, isReady: false, notes: [`it cannot be used here: ${why}`] }
}

function nothingWorks(obstacles: readonly string[]): Error {
  return refusal(
    'boot-impossible',
    `nothing here can start the supervisor with the machine (${obstacles.join('; ')})`,
    'arrange for "oneshot daemon start" to run at boot as your user',
  )
}
