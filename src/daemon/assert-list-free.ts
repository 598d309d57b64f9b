import path from 'node:path'
import { LOOP_KINDS } from '../api/contract/agent-kinds.ts'
import { refusal } from '../api/contract/problems.ts'
import type { Session, Spec } from '../core/session.ts'
import { otherSerialLoop, waysAround } from '../views/serial-loops.ts'
import { listNamed, listOf } from './list-of.ts'

/** Two loops on one list would do the same tasks twice, each in the other's way. */
export function assertListFree(asked: Pick<Spec, 'agent' | 'cwd' | 'argv'>, sessions: readonly Session[]): void {
  if (!LOOP_KINDS.includes(asked.agent)) return
  const beside = otherSerialLoop(asked, sessions)
  const place = placeOf(asked)
  const other = sessions.find(
    ({ spec, phase }) => phase.name !== 'ended' && LOOP_KINDS.includes(spec.agent) && placeOf(spec) === place,
  )
  if (other === undefined && beside !== undefined)
    throw refusal(
      'session-alive',
      `${beside.spec.name} works in this checkout, one task after the other`,
      waysAround(beside),
    )
  if (other === undefined) return
  const { name } = other.spec
  const file = listNamed(asked)
  throw refusal(
    'session-alive',
    other.phase.name === 'blocked' ? `${name} has ${file} here, and waits for you` : `${name} works on ${file} here`,
    `oneshot ralph status ${name}, or oneshot stop ${name}`,
  )
}

function placeOf(spec: Pick<Spec, 'cwd' | 'argv'>): string {
  return path.join(spec.cwd, listOf(spec) ?? '.beads')
}
