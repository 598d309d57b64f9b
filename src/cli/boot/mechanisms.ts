import { bootName } from '../../world/os/boot/boot-order.ts'
import { cron } from '../../world/os/boot/cron.ts'
import { launchd } from '../../world/os/boot/launchd.ts'
import type { Mechanism } from '../../world/os/boot/mechanism.ts'
import { systemd } from '../../world/os/boot/systemd.ts'
import type { Home } from '../../world/os/home.ts'

/** All there are for this home, the best first. */
export function mechanismsFor(home: Home, env: NodeJS.ProcessEnv): readonly Mechanism[] {
  const name = bootName(home)
  return [systemd(name, env), launchd(name, env), cron(name, env)]
}
