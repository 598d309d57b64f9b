import * as z from 'zod/mini'
import type { AdoptRequest, RunRequest } from '../api/contract/requests.ts'
import type { OutlookView } from '../api/contract/session-view.ts'
import { refusal } from '../api/contract/problems.ts'
import type { Checkpoint } from '../core/checkpoint.ts'
import type { Spec } from '../core/session.ts'
import { keepingOf } from '../engine/keeping-of.ts'
import type { Legacy } from '../engine/legacy.ts'
import { iso } from '../lib/time.ts'
import { reasonIn, Trouble } from '../lib/trouble.ts'
import type { Agent } from '../ports/agent.ts'
import type { Checkpoints } from '../ports/checkpoints.ts'

/** What was written down with a checkpoint, as far as it is needed here. Another machine wrote it: it is checked. */
const RECORD = z.object({
  session: z.object({
    name: z.string(),
    task: z.string(),
    agent: z.string(),
    argv: z.array(z.string()),
    autonomy: z.enum(['full', 'edits', 'ask']),
    model: z.nullable(z.string()),
    effort: z.nullable(z.string()),
  }),
  thread: z.nullable(z.string()),
  goal: z.array(z.string()),
  tasks: z.array(z.object({ id: z.string(), title: z.string(), state: z.enum(['open', 'doing', 'done']) })),
  lastWord: z.nullable(z.string()),
  state: z.string(),
  reason: z.nullable(z.string()),
})

type Record = z.infer<typeof RECORD>

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
  const last = (await host.checkpoints.list(keeping)).at(-1)
  if (last === undefined)
    throw refusal('no-checkpoint', `nothing is kept of ${name} here`, 'fetch it: oneshot resume NAME --from REMOTE')
  const record = read(await host.checkpoints.record(keeping, last.commit), name)
  if (record.goal.length === 0)
    throw refusal('cannot-restore', `${name} was a command, and is not started twice`, `oneshot restore ${name}`)
  if (record.state === 'done')
    throw refusal(
      'session-done',
      `${name} was done`,
      `look at it: oneshot restore, or give it to somebody: oneshot run`,
    )
  const thread = threadHere(record, request, host)
  return {
    outlook: outlookOn(record, last, thread),
    request: { ...run, ...requestOf(record, thread) },
    legacy: spec => ({ ...legacyOf(record, last), moveIn: () => moveInOrNot(spec, last, host.checkpoints) }),
  }
}

function read(text: string, name: string): Record {
  try {
    return RECORD.parse(JSON.parse(text))
  } catch {
    throw refusal('cannot-restore', `what was written down with the checkpoints of ${name} cannot be read`)
  }
}

/** Its conversation, if the agent on this machine knows it. */
function threadHere({ thread, session }: Record, { run }: AdoptRequest, { agents }: Host): string | null {
  if (thread === null) return null
  const place = { thread, tag: '', cwd: run.cwd, env: run.env, since: 0, others: [], opening: '' }
  return agents(session.agent).find?.(place)?.thread ?? null
}

function requestOf({ session, goal }: Record, thread: string | null) {
  const { agent, argv, task, autonomy, model, effort } = session
  return {
    agent,
    argv,
    name: task,
    prompt: Buffer.from(goal[0] ?? '').toString('base64'),
    autonomy,
    ...(model !== null && { model }),
    ...(effort !== null && { effort }),
    ...(thread !== null && { thread }),
  }
}

function outlookOn(record: Record, last: Checkpoint, thread: string | null): OutlookView {
  const open = record.tasks.filter(({ state }) => state !== 'done').map(({ title }) => title)
  const why = record.reason === null ? '' : `: ${record.reason}`
  return {
    found: [
      `checkpoint ${last.number} (${last.trigger}) of ${iso(last.at)}, when it was ${record.state}${why}`,
      ...(thread === null ? [] : [`its conversation ${thread}`]),
      ...(open.length === 0
        ? []
        : [`${open.length} of ${record.tasks.length} tasks open: ${open.slice(0, 3).join('; ')}`]),
    ],
    next: `${[record.session.agent, ...record.session.argv].join(' ')}: the working tree becomes that of checkpoint ${last.number}, on a branch of its own; then ${
      thread === null
        ? 'a fresh conversation begins, which is told what was done'
        : 'the agent goes on in that conversation'
    }`,
  }
}

function legacyOf({ goal, lastWord, tasks, reason }: Record, { at }: Checkpoint): Omit<Legacy, 'moveIn'> {
  return {
    messages: goal,
    lastWords: lastWord ?? '',
    tasks: tasks.map(task => ({ ...task, source: 'user' })),
    reason: reason ?? `the machine it was at work on was last heard of ${iso(at)}`,
  }
}

async function moveInOrNot(spec: Spec, last: Checkpoint, checkpoints: Checkpoints): Promise<void> {
  try {
    await moveIn(spec, last, checkpoints)
  } catch (cause) {
    await checkpoints.forget(keepingOf(spec)).catch(() => undefined)
    throw cause instanceof Trouble ? refusal('cannot-restore', reasonIn(cause)) : cause
  }
}

/** Over nothing but what is committed: whoever has changes of their own here keeps them. */
async function moveIn(spec: Spec, last: Checkpoint, checkpoints: Checkpoints): Promise<void> {
  const keeping = keepingOf(spec)
  const save = async (): Promise<Checkpoint> => {
    const occasion = { trigger: 'start', attempt: 0, at: Date.now(), record: '{}', isVisible: false } as const
    return (await checkpoints.save(keeping, occasion, new AbortController().signal)).checkpoint
  }
  const found = await save()
  const { files } = await checkpoints.change(keeping, found.commit, last.commit)
  if (files === 0) return
  if (found.change.files > 0)
    throw refusal(
      'cannot-restore',
      `the working tree in ${spec.cwd} has changes of its own`,
      'commit or stash them, or go on in a fresh clone',
    )
  if (last.head !== null && last.head !== found.head)
    await checkpoints.switchTo(keeping, `oneshot/${spec.name}-${spec.id}`, last.head)
  await checkpoints.restoreHere(keeping, last, await save())
}
