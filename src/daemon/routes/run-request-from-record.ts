import type { ImportRequest } from '../../api/contract/requests.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { CheckpointRecord } from '../../core/checkpoint/record.ts'
import type { Autonomy, Spec } from '../../core/session/session-state.ts'
import type { SupervisionRequest, VerifyOptions } from '../../core/session/supervision-options.ts'
import type { UsageLimits } from '../../core/session/usage.ts'

/**
 * Builds a run request from a record, which anybody with write access to the remote may have written. It passes none of
 * the record's arguments to a program, since some make an agent run any command, and it grants no more rights than the
 * local user.
 */
export function createRunRequest(
  { session, goal }: CheckpointRecord,
  thread: string | null,
  run: ImportRequest['run'],
): Omit<RunRequest, 'cwd' | 'env'> {
  const { agent, task, model, effort, patience } = session
  const { supervision } = run
  const autonomy = lowerAutonomy(session.autonomy, run.autonomy ?? 'ask')
  const verify = supervision.verify ?? limitVerify(session, autonomy)
  return {
    agent,
    argv: [],
    name: task,
    prompt: Buffer.from(goal[0] ?? '').toString('base64'),
    autonomy,
    supervision: {
      ...supervision,
      maxTime: smallerLimit(supervision.maxTime, session.maxTime),
      maxOutput: smallerLimit(supervision.maxOutput ?? null, session.maxOutput),
      memory: smallerLimit(supervision.memory ?? null, session.memory),
      limits: combineLimits(session, supervision),
      patience: { ...patience, ...supervision.patience },
      ...(verify !== undefined && { verify }),
    },
    ...(model !== null && { model }),
    ...(effort !== null && { effort }),
    ...(thread !== null && { thread }),
  }
}

/**
 * Drops the record's check unless the agent has full autonomy. A check is a command, and such an agent may run any
 * command anyway.
 */
function limitVerify({ verify }: CheckpointRecord['session'], autonomy: Autonomy): VerifyOptions | undefined {
  if (verify === null) return undefined
  const check = autonomy === 'full' ? verify.check : null
  return verify.git || check !== null ? { git: verify.git, check } : undefined
}

function combineLimits({ limits }: CheckpointRecord['session'], local: SupervisionRequest): UsageLimits {
  const smaller = (key: keyof UsageLimits): number | null =>
    smallerLimit(local.limits?.[key] ?? null, limits?.[key] ?? null)
  return { usd: smaller('usd'), tokens: smaller('tokens'), turns: smaller('turns') }
}

function smallerLimit(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}

function lowerAutonomy(one: Autonomy, other: Autonomy): Autonomy {
  const order: readonly Autonomy[] = ['ask', 'edits', 'full']
  return order[Math.min(order.indexOf(one), order.indexOf(other))] ?? 'ask'
}

/** Returns the record under the identity of the new session. */
export function renameRecord(record: CheckpointRecord, { id, name, task, cwd }: Spec): string {
  return JSON.stringify({ ...record, session: { ...record.session, id, name, task, cwd } })
}
