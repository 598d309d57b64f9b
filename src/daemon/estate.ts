import os from 'node:os'
import { AGENT_KINDS } from '../api/contract/agent-kinds.ts'
import type { AdoptRequest, RunRequest } from '../api/contract/requests.ts'
import type { OutlookView } from '../api/contract/session-view.ts'
import { refusal } from '../api/contract/problems.ts'
import type { Checkpoint } from '../core/checkpoint.ts'
import { type CheckpointRecord, countRead, readCheckpointRecord, wholeGoal } from '../core/checkpoint-record.ts'
import type { Spec } from '../core/session.ts'
import { NOTHING_SPENT } from '../core/spending.ts'
import { isThreadId } from '../core/thread-id.ts'
import type { Legacy } from '../engine/legacy.ts'
import { excerptOf } from '../lib/invisible.ts'
import { Mask } from '../lib/mask/mask.ts'
import { iso } from '../lib/time.ts'
import type { Agent, ThreadRecord } from '../ports/agent.ts'
import type { Checkpoints, Keeping } from '../ports/checkpoints.ts'
import { renamed, requestOf } from './estate-request.ts'
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

/** What of each message is shown before anybody agrees to it. */
const LONGEST_GIST = 200
const MOST_GISTS = 10
const MOST_TASKS = 3

export async function estateOf(request: AdoptRequest, host: Host): Promise<Estate> {
  const { sessionId, name, run } = request
  const keeping = { cwd: run.cwd, sessionId, name }
  const last = (await orRefuse('cannot-restore', host.checkpoints.list(keeping))).at(-1)
  if (last === undefined)
    throw refusal(
      'no-checkpoint',
      `there are no checkpoints of ${name} here`,
      'fetch it: oneshot resume NAME --from REMOTE',
    )
  const record = await recordOf(keeping, last, host)
  assertGoesOn(record, name, host)
  const thread = threadHere(record, request, host)
  const place = await lookAround(keeping, last, host.checkpoints)
  const wanted = { ...run, ...requestOf(record, thread?.thread ?? null, run) }
  return {
    outlook: outlookOn(record, { last, thread, place, wanted }),
    request: wanted,
    legacy: spec => ({
      ...legacyOf(record, last, thread),
      moveIn: () =>
        claimAnd(request, spec, host, () =>
          moveInOrNot(spec, { last, record: renamed(record, spec) }, host.checkpoints),
        ),
    }),
  }
}

/** What was written down with a checkpoint, with all messages as they were. */
async function recordOf(keeping: Keeping, last: Checkpoint, { checkpoints }: Host): Promise<CheckpointRecord> {
  const record = readCheckpointRecord(await orRefuse('cannot-restore', checkpoints.record(keeping, last.commit)))
  if (record === null)
    throw refusal('cannot-restore', `the record in the checkpoints of ${keeping.name} cannot be read`)
  return { ...record, goal: wholeGoal(record, await orRefuse('cannot-restore', checkpoints.goal(keeping))) }
}

/** The session is claimed on its remote first, so that nobody else continues it; the claim is given back if nothing comes of it. */
async function claimAnd(
  { claim, ...of }: AdoptRequest,
  spec: Spec,
  host: Host,
  deed: () => Promise<void>,
): Promise<void> {
  if (claim === undefined) return deed()
  const keeping = { cwd: spec.cwd, sessionId: of.sessionId, name: of.name }
  const wish = { ...claim, env: of.run.env, at: Date.now(), sessionId: spec.id, host: os.hostname() }
  const giveBack = await orRefuse('cannot-restore', host.checkpoints.claim(keeping, wish))
  try {
    await deed()
  } catch (cause) {
    await giveBack().catch(() => undefined) // The next one is told that --take-over helps.
    throw cause
  }
}

function assertGoesOn({ session, goal, state }: CheckpointRecord, name: string, { agents }: Host): void {
  const { agent } = session
  if (!AGENT_KINDS.includes(agent))
    throw refusal('agent-unknown', `${name} used the agent ${agent}, which this version of oneshot does not know`)
  const files = `its files: oneshot restore ${name}`
  if (goal.length === 0 || !agents(agent).takesPrompt)
    throw refusal('cannot-restore', `${name} was a command, and is not started twice`, files)
  if (state === 'done') throw refusal('session-done', `${name} was done`, files)
}

/** Its conversation, if the agent on this machine knows it. */
function threadHere(
  { thread, session }: CheckpointRecord,
  { run }: AdoptRequest,
  { agents }: Host,
): ThreadRecord | null {
  if (thread === null || !isThreadId(thread)) return null
  const place = { thread, tag: '', cwd: run.cwd, env: run.env, since: 0, others: [], opening: '' }
  return agents(session.agent).find?.(place) ?? null
}

interface Prospect {
  readonly last: Checkpoint
  readonly thread: ThreadRecord | null
  readonly place: Place
  readonly wanted: RunRequest
}

function outlookOn(record: CheckpointRecord, { last, thread, place, wanted }: Prospect): OutlookView {
  const open = record.tasks.filter(({ state }) => state !== 'done').map(({ title }) => title)
  const texts = {
    messages: record.goal,
    lastWords: record.lastWord ?? '',
    tasks: open,
    check: wanted.verify?.check ?? null,
  }
  const { argv, verify } = record.session
  const why = record.reason === null ? '' : `: ${gist(record.reason)}`
  const isCheckLeft = verify !== null && verify.check !== null && wanted.verify?.check !== verify.check
  return {
    found: [
      `checkpoint ${last.number} (${last.trigger}) of ${iso(last.at)}, when it was ${gist(record.state)}${why}`,
      ...(thread === null ? [] : [`its conversation ${thread.thread}`]),
      ...(open.length === 0
        ? []
        : [`${open.length} of ${record.tasks.length} tasks open: ${open.slice(0, MOST_TASKS).map(gist).join('; ')}`]),
      ...(argv.length === 0 ? [] : [`arguments, which oneshot does not use here: ${gist(argv.join(' '))}`]),
      ...(isCheckLeft ? [`a check, which oneshot runs with autonomy full only: ${gist(verify.check ?? '')}`] : []),
      ...(wanted.verify?.check ? [`a check, which oneshot runs here: ${gist(wanted.verify.check)}`] : []),
      ...messagesOf(record),
      ...(isShownWhole(texts) ? [] : ['to read all of it: add --dry-run --json']),
    ],
    texts,
    next: `${wanted.agent}${wanted.model === undefined ? '' : ` (model ${wanted.model})`} with autonomy ${wanted.autonomy}: ${PLACES[place](last)}; then ${
      thread === null
        ? 'a new conversation begins, with a summary of the work'
        : 'the agent continues that conversation'
    }`,
  }
}

/** All that the agent is given to read. Whoever can write to the remote can have written it. */
function messagesOf({ goal, lastWord }: CheckpointRecord): string[] {
  const excerpts = goal.slice(0, MOST_GISTS).map((text, at) => [`message ${at + 1}`, text] as const)
  const texts = [...excerpts, ...(lastWord === null ? [] : [['its last words', lastWord] as const])]
  const lines = texts.map(([what, text]) => `${what}: ${gist(text)}`)
  return [...lines, ...(goal.length > MOST_GISTS ? [`${goal.length - MOST_GISTS} more messages`] : [])]
}

function isShownWhole({ messages, lastWords, tasks, check }: NonNullable<OutlookView['texts']>): boolean {
  if (messages.length > MOST_GISTS || tasks.length > MOST_TASKS) return false
  return [...messages, lastWords, ...tasks, check ?? ''].every(text => text.length <= LONGEST_GIST)
}

/** Its beginning, with nothing in it that a person does not see and an agent reads, and how much is not shown. */
function gist(text: string): string {
  const { text: shown, rest, invisible } = excerptOf(new Mask().hide(text), LONGEST_GIST)
  const notes = [
    ...(rest === 0 ? [] : [`… and ${rest.toLocaleString('en-US')} more characters`]),
    ...(invisible === 0 ? [] : [`(${invisible.toLocaleString('en-US')} invisible)`]),
  ]
  return [shown, ...notes].join(' ')
}

const PLACES: { readonly [P in Place]: (last: Checkpoint) => string } = {
  same: ({ number }) => `the working tree is that of checkpoint ${number} already, and stays`,
  here: ({ number }) => `the working tree becomes that of checkpoint ${number}, and the branch stays`,
  branch: ({ number, head }) =>
    `the working tree becomes that of checkpoint ${number}, on a new branch at ${head?.slice(0, 10)}, where it was made`,
}

/** A fresh conversation is told all messages; one that is there has read what its own record shows, and the first at least. */
function legacyOf(record: CheckpointRecord, { at }: Checkpoint, thread: ThreadRecord | null): Omit<Legacy, 'moveIn'> {
  const { goal, lastWord, tasks, reason, spent, spentInThread } = record
  return {
    messages: goal,
    read: thread === null ? goal.length : Math.max(1, countRead(goal, thread.messages)),
    spent: spent ?? NOTHING_SPENT,
    spentInThread: spentInThread ?? NOTHING_SPENT,
    lastWords: lastWord ?? '',
    tasks: tasks.map(task => ({ ...task, source: 'user' })),
    reason: reason ?? `its machine last sent something at ${iso(at)}`,
  }
}
