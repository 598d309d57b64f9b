import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../api/client.ts'
import { isRefusal } from '../lib/refusal.ts'
import type { Duration } from '../lib/time.ts'
import type { Home } from '../world/os/home.ts'

/** A keeper brings its supervisor back within a second; whoever is away for two looks has no keeper. */
const LOOK: Duration = 1_500
/** Between two starts: a supervisor that cannot start is not helped by more keepers. */
const LONGEST_PAUSE: Duration = 60_000

/**
 * Starts the supervisor again when supervisor and keeper are both gone. The shim of a worker does so when its worker ends, but between
 * two workers nobody else is there: the loop would wait for ever. A user who stopped the supervisor on purpose is obeyed.
 */
export async function guardSupervisor(home: Home, ending: AbortSignal): Promise<void> {
  let missed = 0
  let delay = 0
  while (!ending.aborted) {
    await pause(LOOK + delay, undefined, { signal: ending, ref: false }).catch(() => undefined)
    if (ending.aborted) return
    if (fs.existsSync(home.downMarker) || (await isThere(home))) {
      missed = 0
      delay = 0
    } else if (++missed >= 2) {
      const { startKeeper } = await import('../world/os/keeper.ts')
      startKeeper(home)
      delay = Math.min(LONGEST_PAUSE, delay * 2 + LOOK)
    }
  }
}

/** A supervisor that listens and does not answer is busy or stuck; the next command decides about that. */
async function isThere(home: Home): Promise<boolean> {
  try {
    return (await connect(home.daemonSocket).findDaemon()) !== undefined
  } catch (cause) {
    if (isRefusal(cause)) return true
    throw cause
  }
}
