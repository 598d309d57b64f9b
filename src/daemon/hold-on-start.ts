import fs from 'node:fs'
import { NO_RESUME } from '../world/boot/boot-command.ts'
import type { Home } from '../state/home.ts'
import { bootId } from '../os/process/processes.ts'

/** Says if a starting supervisor holds the sessions without a live process, and clears that state with `finish`. */
export interface HoldOnStart {
  readonly isOn: boolean
  finish(): void
}

/**
 * Safe mode applies once after a user's request, or once per boot if configured: a supervisor that restarts later
 * continues as usual.
 */
export function readHoldOnStart(home: Home, env: NodeJS.ProcessEnv): HoldOnStart {
  const isRequested = fs.existsSync(home.holdMarker)
  const isConfigured = env[NO_RESUME] === '1'
  return {
    isOn: isRequested || (isConfigured && readHeldBoot(home) !== bootId),
    finish: () => {
      try {
        if (isConfigured) fs.writeFileSync(home.heldBoot, bootId, { mode: 0o600 })
        fs.rmSync(home.holdMarker, { force: true })
      } catch {
        // On a full disk, the next supervisor holds once more.
      }
    },
  }
}

function readHeldBoot({ heldBoot }: Home): string | undefined {
  return fs.existsSync(heldBoot) ? fs.readFileSync(heldBoot, 'latin1') : undefined
}
