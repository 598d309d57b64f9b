import fs from 'node:fs'
import path from 'node:path'
import type { SessionView } from '../../../src/api/contract/responses.ts'
import { readSessionEvents } from '../../../src/views/read-session.ts'
import { DemoThread } from '../../../src/world/agents/demo/thread.ts'
import { checkLiveness } from '../../../src/os/process/processes.ts'
import { testThreadId } from '../../../testkit/core/ids.ts'
import { type Entry, readJournal } from '../agent/journal.ts'
import type { ChaosSession } from '../fleet/chaos-session.ts'
import type { FleetContext } from '../fleet/fleet-context.ts'
import { checkOutput, type OutputFigures } from './check-output.ts'

export interface SessionFigures extends OutputFigures {
  readonly task: string
  readonly messages: number
  /** Start times of its processes, on the monotonic clock. */
  readonly begun: readonly { readonly attempt: number; readonly at: number }[]
}

/** Milliseconds from one process to the next; the suite keeps longer gaps for inspection. */
const LONG = 30_000

/** Compares oneshot's records of an ended session with those of its agent. */
export async function checkSession(
  session: ChaosSession,
  view: SessionView,
  context: FleetContext,
): Promise<SessionFigures> {
  const { environment, findings } = context
  const journal = readJournal(environment.journalOf(session.plan.task))
  const say = (promise: Parameters<typeof findings.add>[0], evidence: string): void =>
    findings.add(promise, `${session.name}: ${evidence}`)

  for (const entry of journal) {
    if (entry.kind === 'conflict') say('one attempt', `${entry.attempt} began beside ${entry.with}`)
    if ('process' in entry && checkLiveness(entry.process) === 'alive')
      say('orphans', `${entry.kind} ${entry.process.pid} of ${entry.attempt} is alive after the end`)
  }
  const heard = messagesReceived(session, view, environment.home.root)
  if (JSON.stringify(heard) !== JSON.stringify(session.accepted))
    say('messages', `accepted ${JSON.stringify(session.accepted)}, heard ${JSON.stringify(heard)}`)
  if (view.outcome === 'done' && !hasFinished(journal, session.accepted.length))
    say('evidence', 'done is said, and the agent does not say that it has finished')
  if (view.outcome === 'failed') say('evidence', `failed, although no agent failed: ${view.reason}`)
  const events = readSessionEvents(environment.home, view.id)
  const revived = findUnexpectedWake(events.map(event => event.type))
  if (revived !== null) say('kept', `after its end came ${revived}`)
  const lived = attemptsIn(journal)
  if (lived.some((life, i) => life.at - (lived[i - 1]?.at ?? life.at) > LONG))
    fs.writeFileSync(
      path.join(environment.evidence, `slow-${session.plan.task}`),
      events.map(event => JSON.stringify(event)).join('\n'),
    )

  const output = await checkOutput(session, view, { home: environment.home, journal, say })
  return { task: session.plan.task, messages: heard.length, begun: lived, ...output }
}

/** Returns the messages in the agent's own thread. */
function messagesReceived(session: ChaosSession, view: SessionView, home: string): string[] {
  const past =
    view.thread === null ? [] : (new DemoThread(`${home}/demo`, testThreadId(view.thread)).readEntries() ?? [])
  return past.flatMap(memory => (memory.kind === 'prompt' ? [memory.text] : []))
}

function hasFinished(journal: readonly Entry[], messages: number): boolean {
  return journal.some(entry => entry.kind === 'finished' && entry.messages === messages)
}

/**
 * An ended session continues only after a message or a resume. On a full disk, checkpoints may still succeed or fail
 * after the end.
 */
function findUnexpectedWake(all: readonly string[]): string | null {
  const types = all.filter(type => !type.startsWith('checkpoint.'))
  for (const [i, type] of types.entries()) {
    const next = types[i + 1]
    if (type === 'session.ended' && next !== undefined && next !== 'message.accepted' && next !== 'session.woken')
      return next
  }
  return null
}

function attemptsIn(journal: readonly Entry[]): SessionFigures['begun'] {
  return journal.flatMap(entry =>
    entry.kind === 'began' ? [{ attempt: Number(entry.attempt.split('.')[1]), at: entry.at }] : [],
  )
}
