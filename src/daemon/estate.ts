import { AGENT_KINDS } from '../api/contract/agent-kinds.ts'
import type { AdoptRequest, RunRequest } from '../api/contract/requests.ts'
import type { OutlookView } from '../api/contract/session-view.ts'
import { refusal } from '../api/contract/problems.ts'
import type { Checkpoint } from '../core/checkpoint.ts'
import type { Autonomy, Spec } from '../core/session.ts'
import type { Legacy } from '../engine/legacy.ts'
import { iso } from '../lib/time.ts'
import type { Agent } from '../ports/agent.ts'
import type { Checkpoints } from '../ports/checkpoints.ts'
import { type Record, readRecord, renamed } from './estate-record.ts'
import { orRefuse } from './keep.ts'
import { lookAround, moveInOrNot, type Place } from './move-in.ts'

/** What is left of a session where only its checkpoints are, and how to go on with it. */
export interface Estate {
  readonly outlook: OutlookView
  readonly request: RunRequest
  /** What the new session begins with. */
  legacy(spec: Spec): Legacy
}

interface Host {
  readonly checkpoints: Checkpoints
  readonly agents: (kind: string) => Agent
}

export async function estateOf(request: AdoptRequest, host: Host): Promise<Estate> {
  const { sessionId, name, run } = request
  const keeping = { cwd: run.cwd, sessionId, name }
  const last = (await orRefuse('cannot-restore', host.checkpoints.list(keeping))).at(-1)
  if (last === undefined)
    throw refusal('no-checkpoint', `nothing is kept of ${name} here`, 'fetch it: oneshot resume NAME --from REMOTE')
  const text = await host.checkpoints.record(keeping, last.commit)
  const record = readRecord(text)
  if (record === null)
    throw refusal('cannot-restore', `what was written down with the checkpoints of ${name} cannot be read`)
  assertGoesOn(record, name, host)
  const thread = threadHere(record, request, host)
  const place = await lookAround(keeping, last, host.checkpoints)
  return {
    outlook: outlookOn(record, { last, thread, place }),
    request: { ...run, ...requestOf(record, thread, run.autonomy) },
    legacy: spec => ({
      ...legacyOf(record, last),
      moveIn: () => moveInOrNot(spec, { last, record: renamed(text, spec) }, host.checkpoints),
    }),
  }
}

function assertGoesOn({ session, goal, state }: Record, name: string, { agents }: Host): void {
  const { agent } = session
  if (!AGENT_KINDS.includes(agent))
    throw refusal('agent-unknown', `${name} is of the agent ${agent}, which is not known here`)
  const files = `its files: oneshot restore ${name}`
  if (goal.length === 0 || !agents(agent).takesPrompt)
    throw refusal('cannot-restore', `${name} was a command, and is not started twice`, files)
  if (state === 'done') throw refusal('session-done', `${name} was done`, files)
}

/** Its conversation, if the agent on this machine knows it. */
function threadHere({ thread, session }: Record, { run }: AdoptRequest, { agents }: Host): string | null {
  if (thread === null || !/^\w[\w.:-]{0,199}$/.test(thread)) return null // No way out of the agent's own folder.
  const place = { thread, tag: '', cwd: run.cwd, env: run.env, since: 0, others: [], opening: '' }
  return agents(session.agent).find?.(place)?.thread ?? null
}

/**
 * Whoever may write to the remote has written the record: no argument of its is handed to a program, since some make an agent
 * run whatever they name, and it allows no more than its user here does.
 */
function requestOf({ session, goal }: Record, thread: string | null, allowed: Autonomy = 'full') {
  const { agent, task, autonomy, model, effort } = session
  return {
    agent,
    argv: [],
    name: task,
    prompt: Buffer.from(goal[0] ?? '').toString('base64'),
    autonomy: lesser(autonomy, allowed),
    ...(model !== null && { model }),
    ...(effort !== null && { effort }),
    ...(thread !== null && { thread }),
  }
}

function lesser(one: Autonomy, other: Autonomy): Autonomy {
  const order: readonly Autonomy[] = ['ask', 'edits', 'full']
  return order[Math.min(order.indexOf(one), order.indexOf(other))] ?? 'ask'
}

interface Prospect {
  readonly last: Checkpoint
  readonly thread: string | null
  readonly place: Place
}

function outlookOn(record: Record, { last, thread, place }: Prospect): OutlookView {
  const open = record.tasks.filter(({ state }) => state !== 'done').map(({ title }) => title)
  const { agent, argv } = record.session
  const why = record.reason === null ? '' : `: ${record.reason}`
  return {
    found: [
      `checkpoint ${last.number} (${last.trigger}) of ${iso(last.at)}, when it was ${record.state}${why}`,
      ...(thread === null ? [] : [`its conversation ${thread}`]),
      ...(open.length === 0
        ? []
        : [`${open.length} of ${record.tasks.length} tasks open: ${open.slice(0, 3).join('; ')}`]),
      ...(argv.length === 0 ? [] : [`arguments, which are not taken over from elsewhere: ${argv.join(' ')}`]),
    ],
    next: `${agent}: ${PLACES[place](last)}; then ${
      thread === null
        ? 'a fresh conversation begins, which is told what was done'
        : 'the agent goes on in that conversation'
    }`,
  }
}

const PLACES: { readonly [P in Place]: (last: Checkpoint) => string } = {
  same: ({ number }) => `the working tree is that of checkpoint ${number} already, and stays`,
  here: ({ number }) => `the working tree becomes that of checkpoint ${number}, and the branch stays`,
  branch: ({ number, head }) =>
    `the working tree becomes that of checkpoint ${number}, on a new branch at ${head?.slice(0, 10)}, where it was made`,
}

function legacyOf({ goal, lastWord, tasks, reason }: Record, { at }: Checkpoint): Omit<Legacy, 'moveIn'> {
  return {
    messages: goal,
    lastWords: lastWord ?? '',
    tasks: tasks.map(task => ({ ...task, source: 'user' })),
    reason: reason ?? `the machine it was at work on was last heard of ${iso(at)}`,
  }
}
