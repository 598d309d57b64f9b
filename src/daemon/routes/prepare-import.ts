import os from 'node:os'
import { AGENT_KINDS } from '../../api/contract/known-agents.ts'
import type { ImportRequest } from '../../api/contract/requests.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { ResumePreview } from '../../api/contract/responses.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import {
  type CheckpointRecord,
  countReadMessages,
  decodeCheckpointRecord,
  completeMessages,
} from '../../core/checkpoint/record.ts'
import type { Spec } from '../../core/session/session-state.ts'
import { NO_USAGE } from '../../core/session/usage.ts'
import { isThreadId } from '../../core/session/conversation.ts'
import type { ImportedSession } from '../../engine/store-imported-session.ts'
import { excerptOf } from '../../lib/text/invisible-characters.ts'
import { errorMessage } from '../../lib/errors.ts'
import { Mask } from '../../lib/mask/mask.ts'
import { formatIso } from '../../lib/time.ts'
import type { Agent, ThreadRecord } from '../../ports/agent.ts'
import type { Checkpoints, CheckpointTarget } from '../../ports/checkpoints.ts'
import { renameRecord, createRunRequest } from './run-request-from-record.ts'
import { parseSavedSessionId, refuseOnFailure } from './checkpoints.ts'
import { choosePlacement, restoreOrForget, type Placement } from './restore-imported-worktree.ts'

/** A session of which only the checkpoints exist here, prepared for its continuation. */
export interface PreparedImport {
  readonly preview: ResumePreview
  readonly request: RunRequest
  /** Returns the initial state of the new session. */
  toImported(spec: Spec): ImportedSession
}

interface ImportContext {
  readonly checkpoints: Checkpoints
  readonly agents: (kind: string) => Agent
}

/** Characters of each message that the preview shows before the user agrees. */
const MAX_SUMMARY_LENGTH = 200
const MAX_SUMMARIES = 10
const MAX_TASKS = 3

export async function prepareImport(request: ImportRequest, context: ImportContext): Promise<PreparedImport> {
  const { name, run } = request
  const target = { cwd: run.cwd, sessionId: parseSavedSessionId(request.sessionId), name }
  const last = (await refuseOnFailure('cannot-restore', context.checkpoints.list(target))).at(-1)
  if (last === undefined)
    throw refusal(
      'no-checkpoint',
      `there are no checkpoints of ${name} here`,
      'fetch it: oneshot resume NAME --from REMOTE',
    )
  const record = await readRecord(target, last, context)
  assertResumable(record, name, context)
  const thread = findLocalThread(record, request, context)
  const placement = await choosePlacement(target, last, context.checkpoints)
  const runRequest = { ...run, ...createRunRequest(record, thread?.thread ?? null, run) }
  return {
    preview: buildPreview(record, { last, thread, placement, request: runRequest }),
    request: runRequest,
    toImported: spec => ({
      ...toImportedSession(record, last, thread),
      importFiles: () =>
        withClaim(request, spec, context, () =>
          restoreOrForget(spec, { last, record: renameRecord(record, spec) }, context.checkpoints),
        ),
    }),
  }
}

/** Reads the record of a checkpoint, with the complete messages. */
async function readRecord(
  target: CheckpointTarget,
  last: Checkpoint,
  { checkpoints }: ImportContext,
): Promise<CheckpointRecord> {
  const text = await refuseOnFailure('cannot-restore', checkpoints.readRecord(target, last.commit))
  const record = decodeOrRefuse(text, target.name)
  return {
    ...record,
    goal: completeMessages(record, await refuseOnFailure('cannot-restore', checkpoints.readMessages(target))),
  }
}

function decodeOrRefuse(text: string, name: string): CheckpointRecord {
  try {
    return decodeCheckpointRecord(text)
  } catch (cause) {
    throw refusal('cannot-restore', `the record in the checkpoints of ${name} cannot be read: ${errorMessage(cause)}`)
  }
}

/**
 * Claims the session on its remote before the action, so that no other machine continues it; releases the claim if the
 * action fails.
 */
async function withClaim(
  { claim, ...of }: ImportRequest,
  spec: Spec,
  context: ImportContext,
  action: () => Promise<void>,
): Promise<void> {
  if (claim === undefined) return action()
  const target = { cwd: spec.cwd, sessionId: parseSavedSessionId(of.sessionId), name: of.name }
  const claimRequest = { ...claim, env: of.run.env, at: Date.now(), sessionId: spec.id, host: os.hostname() }
  const releaseClaim = await refuseOnFailure('cannot-restore', context.checkpoints.claim(target, claimRequest))
  try {
    await action()
  } catch (cause) {
    await releaseClaim().catch(() => undefined) // The refusal for the next machine names --take-over.
    throw cause
  }
}

function assertResumable({ session, goal, state }: CheckpointRecord, name: string, { agents }: ImportContext): void {
  const { agent } = session
  if (!AGENT_KINDS.includes(agent))
    throw refusal('agent-unknown', `${name} used the agent ${agent}, which this version of oneshot does not know`)
  const files = `its files: oneshot restore ${name}`
  if (goal.length === 0 || !agents(agent).takesPrompt)
    throw refusal('cannot-restore', `${name} was a command, and is not started twice`, files)
  if (state === 'done') throw refusal('session-done', `${name} was done`, files)
}

/** Returns the record of the conversation, if the agent on this machine has it. */
function findLocalThread(
  { thread, session }: CheckpointRecord,
  { run }: ImportRequest,
  { agents }: ImportContext,
): ThreadRecord | null {
  if (thread === null || !isThreadId(thread)) return null
  const query = { thread, tag: thread, cwd: run.cwd, env: run.env, since: 0, isForeign: () => false, opening: '' }
  return agents(session.agent).findThread?.(query) ?? null
}

interface PreviewInput {
  readonly last: Checkpoint
  readonly thread: ThreadRecord | null
  readonly placement: Placement
  readonly request: RunRequest
}

function buildPreview(record: CheckpointRecord, { last, thread, placement, request }: PreviewInput): ResumePreview {
  const open = record.tasks.filter(({ state }) => state !== 'done').map(({ title }) => title)
  const texts = {
    messages: record.goal,
    lastWords: record.lastWord ?? '',
    tasks: open,
    check: request.supervision.verify?.check ?? null,
  }
  const { argv, verify } = record.session
  const reason = record.reason === null ? '' : `: ${summarize(record.reason)}`
  const isCheckOmitted = verify !== null && verify.check !== null && request.supervision.verify?.check !== verify.check
  return {
    found: [
      `checkpoint ${last.number} (${last.trigger}) of ${formatIso(last.at)}, when it was ${summarize(record.state)}${reason}`,
      ...(thread === null ? [] : [`its conversation ${thread.thread}`]),
      ...(open.length === 0
        ? []
        : [
            `${open.length} of ${record.tasks.length} tasks open: ${open.slice(0, MAX_TASKS).map(summarize).join('; ')}`,
          ]),
      ...(argv.length === 0 ? [] : [`arguments, which oneshot does not use here: ${summarize(argv.join(' '))}`]),
      ...(isCheckOmitted
        ? [`a check, which oneshot runs with autonomy full only: ${summarize(verify.check ?? '')}`]
        : []),
      ...(request.supervision.verify?.check
        ? [`a check, which oneshot runs here: ${summarize(request.supervision.verify.check)}`]
        : []),
      ...describeMessages(record),
      ...(isShownInFull(texts) ? [] : ['to read all of it: add --dry-run --json']),
    ],
    texts,
    next: `${request.agent}${request.model === undefined ? '' : ` (model ${request.model})`} with autonomy ${request.autonomy}: ${PLACEMENT_TEXTS[placement](last)}; then ${
      thread === null
        ? 'a new conversation begins, with a summary of the work'
        : 'the agent continues that conversation'
    }`,
  }
}

/** Lists all texts that the agent will read, because anybody with write access to the remote may have written them. */
function describeMessages({ goal, lastWord }: CheckpointRecord): string[] {
  const excerpts = goal.slice(0, MAX_SUMMARIES).map((text, index) => [`message ${index + 1}`, text] as const)
  const texts = [...excerpts, ...(lastWord === null ? [] : [['its last words', lastWord] as const])]
  const lines = texts.map(([what, text]) => `${what}: ${summarize(text)}`)
  return [...lines, ...(goal.length > MAX_SUMMARIES ? [`${goal.length - MAX_SUMMARIES} more messages`] : [])]
}

function isShownInFull({ messages, lastWords, tasks, check }: NonNullable<ResumePreview['texts']>): boolean {
  if (messages.length > MAX_SUMMARIES || tasks.length > MAX_TASKS) return false
  return [...messages, lastWords, ...tasks, check ?? ''].every(text => text.length <= MAX_SUMMARY_LENGTH)
}

/** Returns the beginning of a text with invisible characters spelt out, and the number of omitted characters. */
function summarize(text: string): string {
  const { text: shown, rest, invisible } = excerptOf(new Mask().maskText(text), MAX_SUMMARY_LENGTH)
  const notes = [
    ...(rest === 0 ? [] : [`… and ${rest.toLocaleString('en-US')} more characters`]),
    ...(invisible === 0 ? [] : [`(${invisible.toLocaleString('en-US')} invisible)`]),
  ]
  return [shown, ...notes].join(' ')
}

const PLACEMENT_TEXTS: { readonly [P in Placement]: (last: Checkpoint) => string } = {
  same: ({ number }) => `the working tree is that of checkpoint ${number} already, and stays`,
  here: ({ number }) => `the working tree becomes that of checkpoint ${number}, and the branch stays`,
  branch: ({ number, head }) =>
    `the working tree becomes that of checkpoint ${number}, on a new branch at ${head?.slice(0, 10)}, where it was made`,
}

/**
 * Returns the initial state of the new session. A new conversation receives all messages; an existing one has read the
 * messages in its own record, and at least the first.
 */
function toImportedSession(
  record: CheckpointRecord,
  { at }: Checkpoint,
  thread: ThreadRecord | null,
): Omit<ImportedSession, 'importFiles'> {
  const { goal, lastWord, tasks, reason, spent, spentInThread } = record
  return {
    messages: goal,
    read: thread === null ? goal.length : Math.max(1, countReadMessages(goal, thread.messages)),
    spent: spent ?? NO_USAGE,
    spentInThread: spentInThread ?? NO_USAGE,
    finalOutput: lastWord ?? '',
    tasks: tasks.map(task => ({ ...task, source: 'user' })),
    reason: reason ?? `its machine last sent something at ${formatIso(at)}`,
  }
}
