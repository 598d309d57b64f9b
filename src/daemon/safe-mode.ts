import fs from 'node:fs'
import { NO_RESUME } from '../world/os/boot/boot-order.ts'
import type { Home } from '../world/os/home.ts'
import { bootId } from '../world/os/processes.ts'

/** Whether a supervisor that begins is to hold whatever is not alive, and how that is over. */
export interface SafeMode {
  readonly isOn: boolean
  over(): void
}

/** Once when a person asked for it, or once in each boot: a supervisor that is brought back later goes on as usual. */
export function safeMode(home: Home, env: NodeJS.ProcessEnv): SafeMode {
  const isAsked = fs.existsSync(home.holdMarker)
  const isUsual = env[NO_RESUME] === '1'
  return {
    isOn: isAsked || (isUsual && bootIn(home) !== bootId),
    over: () => {
      try {
        if (isUsual) fs.writeFileSync(home.heldBoot, bootId, { mode: 0o600 })
        fs.rmSync(home.holdMarker, { force: true })
      } catch {
        // A full disk: then the next one holds once more.
      }
    },
  }
}

function bootIn({ heldBoot }: Home): string | undefined {
  return fs.existsSync(heldBoot) ? fs.readFileSync(heldBoot, 'latin1') : undefined
}
