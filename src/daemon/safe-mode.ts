import fs from 'node:fs'
import { NO_RESUME } from '../world/boot/boot-command.ts'
import type { Home } from '../state/home.ts'
import { bootId } from '../os/process/processes.ts'

/** Whether a supervisor that begins is to hold whatever is not alive, and how that is over. */
export interface SafeMode {
  readonly isOn: boolean
  finish(): void
}

/** Once when a person asked for it, or once in each boot: a supervisor that is brought back later goes on as usual. */
export function safeMode(home: Home, env: NodeJS.ProcessEnv): SafeMode {
  const isRequested = fs.existsSync(home.holdMarker)
  const isConfigured = env[NO_RESUME] === '1'
  return {
    isOn: isRequested || (isConfigured && readHeldBoot(home) !== bootId),
    finish: () => {
      try {
        if (isConfigured) fs.writeFileSync(home.heldBoot, bootId, { mode: 0o600 })
        fs.rmSync(home.holdMarker, { force: true })
      } catch {
        // A full disk: then the next one holds once more.
      }
    },
  }
}

function readHeldBoot({ heldBoot }: Home): string | undefined {
  return fs.existsSync(heldBoot) ? fs.readFileSync(heldBoot, 'latin1') : undefined
}
