import { parseLoopPlace } from '../core/loop/spec.ts'
import { shownName } from '../api/contract/shown-name.ts'
import type { Session, Spec } from '../core/session/session-state.ts'
import path from 'node:path'
import { LOOP_KINDS } from '../api/contract/known-agents.ts'
import { refusal } from '../api/contract/problems.ts'
import { describeAlternatives, findOtherSerialLoop } from '../views/loop/find-serial-loop-in-checkout.ts'

/** Returns the path of the loop's list, relative to its folder; null for the project's task tracker. */
export function parseListPath({ argv }: Pick<Spec, 'argv'>): string | null {
  return parseLoopPlace(argv).list
}

export function describeList(spec: Pick<Spec, 'argv'>): string {
  return parseListPath(spec) ?? 'the issues of beads'
}

/** Refuses a second loop on one list: both would do the same tasks and disturb each other. */
export function assertListUnused(requested: Pick<Spec, 'agent' | 'cwd' | 'argv'>, sessions: readonly Session[]): void {
  if (!LOOP_KINDS.includes(requested.agent)) return
  const loopInCheckout = findOtherSerialLoop(requested, sessions)
  const list = resolveListPath(requested)
  const holder = sessions.find(
    ({ spec, phase }) => phase.name !== 'ended' && LOOP_KINDS.includes(spec.agent) && resolveListPath(spec) === list,
  )
  if (holder === undefined && loopInCheckout !== undefined)
    throw refusal(
      'session-alive',
      `${shownName(loopInCheckout.spec)} works in this checkout, one task after the other`,
      describeAlternatives(shownName(loopInCheckout.spec)),
    )
  if (holder === undefined) return
  const name = shownName(holder.spec)
  const file = describeList(requested)
  throw refusal(
    'session-alive',
    holder.phase.name === 'blocked' ? `${name} has ${file} here, and waits for you` : `${name} works on ${file} here`,
    `oneshot ralph status ${name}, or oneshot stop ${name}`,
  )
}

function resolveListPath(spec: Pick<Spec, 'cwd' | 'argv'>): string {
  return path.join(spec.cwd, parseListPath(spec) ?? '.beads')
}
