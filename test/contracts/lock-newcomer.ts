import { setTimeout as pause } from 'node:timers/promises'
import { showProgress } from '../../src/daemon/detect-stuck-lock-holder.ts'
import { acquireLock } from '../../src/daemon/acquire-lock.ts'
import { homeAt } from '../../src/state/home.ts'

/** A supervisor in charge shows progress while busy, and none while stuck. */
export type Behaviour = 'busy' | 'stuck'

/** Takes charge of a home, prints the result, and stays. */
const [, , root = '', patience, how] = process.argv as [string, string, string?, string?, Behaviour?]
const home = homeAt(root)
try {
  const lock = await acquireLock(home, Number(patience))
  console.log('in charge')
  if (how === 'busy') setInterval(() => showProgress(home), 50)
  for (;;) await pause(60_000, lock)
} catch (cause) {
  console.log(cause instanceof Error ? cause.message : String(cause))
}
