import type { Driver } from './driver.ts'
import { tellProgram } from './tell-program.ts'

/** Wakes the assistant at once rather than at its next heartbeat. */
export const openclaw: Driver<{ type: 'openclaw' }> = async (_, { text }, { env, signal }) => {
  const line = text.replaceAll('\n', ' · ')
  await tellProgram(['openclaw', 'system', 'event', '--text', `oneshot: ${line}`, '--mode', 'now'], { env, signal })
  return 'handed to openclaw'
}
