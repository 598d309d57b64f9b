import fs from 'node:fs'
import { LOOP_KINDS } from '../../api/contract/known-agents.ts'
import { parseLoopPlace } from '../../core/loop/spec.ts'
import type { Session, Spec } from '../../core/session/session-state.ts'
import { listFoldersToRoot } from '../../os/files/project-root.ts'

/** Finds a serial loop in the same checkout: nobody could attribute the changes there to one of the two. */
export function findOtherSerialLoop(
  requested: Pick<Spec, 'agent' | 'cwd' | 'argv'>,
  sessions: readonly Session[],
): Session | undefined {
  return isSerial(requested) ? findSerialLoop(requested.cwd, sessions) : undefined
}

/** Finds the serial loop that works in the checkout around this folder. */
export function findSerialLoop(cwd: string, sessions: readonly Session[]): Session | undefined {
  const root = checkoutRoot(cwd)
  return sessions.find(
    ({ spec, phase }) =>
      !['ended', 'blocked'].includes(phase.name) && isSerial(spec) && checkoutRoot(spec.cwd) === root,
  )
}

/** Describes the user's options. */
export function describeAlternatives(name: string): string {
  return `wait for it: oneshot wait ${name}; or stop it: oneshot stop ${name}; or work in worktrees: --parallel`
}

function isSerial({ agent, argv }: Pick<Spec, 'agent' | 'argv'>): boolean {
  if (!LOOP_KINDS.includes(agent)) return false
  return parseLoopPlace(argv).parallel === null
}

function checkoutRoot(cwd: string): string {
  try {
    return listFoldersToRoot(fs.realpathSync(cwd)).at(-1) ?? cwd
  } catch {
    return cwd // The folder is gone, and with it the checkout.
  }
}
