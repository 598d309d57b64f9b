import fs from 'node:fs'
import { LOOP_KINDS } from '../api/contract/agent-kinds.ts'
import type { LoopRequest } from '../api/contract/loop-request.ts'
import type { Session, Spec } from '../core/session.ts'
import { foldersToTop } from '../world/os/project-top.ts'

/** A loop that works in the same checkout, one task after the other: nobody could tell what either of them has done there. */
export function otherSerialLoop(
  asked: Pick<Spec, 'agent' | 'cwd' | 'argv'>,
  sessions: readonly Session[],
): Session | undefined {
  return isSerial(asked) ? serialLoopIn(asked.cwd, sessions) : undefined
}

/** The loop that works in the checkout around this folder, one task after the other. */
export function serialLoopIn(cwd: string, sessions: readonly Session[]): Session | undefined {
  const top = topOf(cwd)
  return sessions.find(
    ({ spec, phase }) => !['ended', 'blocked'].includes(phase.name) && isSerial(spec) && topOf(spec.cwd) === top,
  )
}

/** What to do about it. */
export function waysAround({ spec: { name } }: Session): string {
  return `wait for it: oneshot wait ${name}; or stop it: oneshot stop ${name}; or work in worktrees: --parallel`
}

function isSerial({ agent, argv }: Pick<Spec, 'agent' | 'argv'>): boolean {
  if (!LOOP_KINDS.includes(agent)) return false
  return ((JSON.parse(argv.at(-1) ?? '{}') as Partial<LoopRequest>).parallel ?? null) === null
}

function topOf(cwd: string): string {
  try {
    return foldersToTop(fs.realpathSync(cwd)).at(-1) ?? cwd
  } catch {
    return cwd // It is gone, and with it the checkout.
  }
}
