import { refusal } from '../../api/contract/problems.ts'
import { asker } from '../../world/os/boot/ask.ts'
import { isCronRunning } from '../../world/os/boot/cron.ts'
import { enableLinger, lingers } from '../../world/os/boot/logind.ts'
import type { Mechanism, MechanismName } from '../../world/os/boot/mechanism.ts'
import { userName } from '../../world/os/boot/user-name.ts'

export interface Choice {
  readonly mechanism: Mechanism
  /** Whether it does its part as things are. */
  readonly isReady: boolean
  /** What a person should know. */
  readonly notes: readonly string[]
}

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
    const why = await mechanism.obstacle()
    if (why !== undefined && wish.dryRun && wish.with !== undefined) {
      return { mechanism, isReady: false, notes: [`it cannot be used here: ${why}`] }
    }
    if (why !== undefined) {
      obstacles.push(`${mechanism.name}: ${why}`)
      continue
    }
    const candidate = await prepare(mechanism, wish)
    usable.push(candidate)
    if (candidate.isReady) break
  }
  const best = usable.find(({ isReady }) => isReady) ?? usable[0]
  if (best === undefined) throw nothingWorks(obstacles)
  const passedOver = usable.filter(({ mechanism }) => mechanism !== best.mechanism)
  return { ...best, notes: [...passedOver.flatMap(({ notes }) => notes), ...best.notes] }
}

async function prepare(mechanism: Mechanism, wish: Wish): Promise<Choice> {
  if (mechanism.name === 'systemd') return { mechanism, ...(await prepareLinger(wish)) }
  if (mechanism.name === 'launchd') {
    return { mechanism, isReady: true, notes: ['launchd starts it when you log in, not before'] }
  }
  const isReady = isCronRunning() !== false
  const notes = isReady ? [] : ['no cron is running here; start it, or the line does nothing: service cron start']
  return { mechanism, isReady, notes }
}

async function prepareLinger({ env, dryRun }: Wish): Promise<{ isReady: boolean; notes: string[] }> {
  const ask = asker(env)
  const user = userName()
  if (await lingers(ask, user)) return { isReady: true, notes: [] }
  if (dryRun)
    return {
      isReady: true,
      notes: [`would be called, so that it starts without a login: loginctl enable-linger ${user}`],
    }
  const why = await enableLinger(ask, user)
  if (why === undefined)
    return { isReady: true, notes: [`${user} now lingers: your service manager starts at boot and stays after logout`] }
  return {
    isReady: false,
    notes: [
      `lingering could not be switched on for you (${why}); without it a unit starts at your first login and ends at your last logout: sudo loginctl enable-linger ${user}`,
    ],
  }
}

function nothingWorks(obstacles: readonly string[]): Error {
  return refusal(
    'boot-impossible',
    `nothing here can start the supervisor with the machine (${obstacles.join('; ')})`,
    'have this called at boot, as you, by whatever starts programs here: oneshot daemon start',
  )
}
