import type { AdoptRequest, RunRequest } from '../api/contract/requests.ts'
import type { CheckpointRecord } from '../core/checkpoint-record.ts'
import type { Autonomy, Spec } from '../core/session.ts'

/**
 * Whoever may write to the remote has written the record: no argument of its is handed to a program, since some make an agent
 * run whatever they name, and it allows no more than its user here does.
 */
export function requestOf(
  { session, goal }: CheckpointRecord,
  thread: string | null,
  run: AdoptRequest['run'],
): Omit<RunRequest, 'cwd' | 'env'> {
  const { agent, task, model, effort, patience } = session
  const autonomy = lesser(session.autonomy, run.autonomy ?? 'ask')
  const memory = least(run.memory ?? null, session.memory)
  const verify = run.verify ?? verifyOf(session, autonomy)
  return {
    agent,
    argv: [],
    name: task,
    prompt: Buffer.from(goal[0] ?? '').toString('base64'),
    autonomy,
    maxTime: least(run.maxTime, session.maxTime),
    maxOutput: least(run.maxOutput ?? null, session.maxOutput),
    limits: limitsOf(session, run),
    patience: { ...patience, ...run.patience },
    ...(memory !== null && { memory }),
    ...(verify !== undefined && { verify }),
    ...(model !== null && { model }),
    ...(effort !== null && { effort }),
    ...(thread !== null && { thread }),
  }
}

/** A check is a command: one from elsewhere is run only where the agent may run any command anyway. */
function verifyOf({ verify }: CheckpointRecord['session'], autonomy: Autonomy): RunRequest['verify'] {
  if (verify === null) return undefined
  const check = autonomy === 'full' ? verify.check : null
  return verify.git || check !== null ? { git: verify.git, check } : undefined
}

function limitsOf(
  { limits }: CheckpointRecord['session'],
  run: AdoptRequest['run'],
): NonNullable<RunRequest['limits']> {
  const [usd, tokens, turns] = (['usd', 'tokens', 'turns'] as const).map(key =>
    least(run.limits?.[key] ?? null, limits?.[key] ?? null),
  )
  return {
    ...(usd ? { usd } : {}),
    ...(tokens ? { tokens } : {}),
    ...(turns ? { turns } : {}),
  }
}

function least(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}

function lesser(one: Autonomy, other: Autonomy): Autonomy {
  const order: readonly Autonomy[] = ['ask', 'edits', 'full']
  return order[Math.min(order.indexOf(one), order.indexOf(other))] ?? 'ask'
}

/** What was written down, as that of the session that goes on with it. */
export function renamed(record: CheckpointRecord, { id, name, task, cwd }: Spec): string {
  return JSON.stringify({ ...record, session: { ...record.session, id, name, task, cwd } })
}
