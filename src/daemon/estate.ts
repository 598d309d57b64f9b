import * as z from 'zod/mini'
import type { AdoptRequest, RunRequest } from '../api/contract/requests.ts'
import type { OutlookView } from '../api/contract/session-view.ts'
import { refusal } from '../api/contract/problems.ts'
import type { Checkpoint } from '../core/checkpoint.ts'
import type { Spec } from '../core/session.ts'
import { keepingOf } from '../engine/keeping-of.ts'
import type { Legacy } from '../engine/legacy.ts'
import type { Refusal } from '../lib/refusal.ts'
import { iso } from '../lib/time.ts'
import { reasonIn, Trouble } from '../lib/trouble.ts'
import type { Agent } from '../ports/agent.ts'
import type { Checkpoints, Keeping } from '../ports/checkpoints.ts'
import { orRefuse } from './keep.ts'

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
  const last = (await orRefuse('cannot-restore', host.checkpoints.list(keeping))).at(-1)
  if (last === undefined)
    throw refusal('no-checkpoint', `nothing is kept of ${name} here`, 'fetch it: oneshot resume NAME --from REMOTE')
  const record = read(await host.checkpoints.record(keeping, last.commit), name)
  if (record.goal.length === 0)
    throw refusal(
      'cannot-restore',
      `${name} was a command, and is not started twice`,
      `its files: oneshot restore ${name}`,
    )
  if (record.state === 'done') throw refusal('session-done', `${name} was done`, `its files: oneshot restore ${name}`)
  const thread = threadHere(record, request, host)
  const argv = ownArguments(record.session.argv, host.agents(record.session.agent))
  const place = await lookAround(keeping, last, host.checkpoints)
  return {
    outlook: outlookOn(record, { last, thread, argv, place }),
    request: { ...run, ...requestOf(record, thread), argv },
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

/** Without those that begin the program itself, which earlier checkpoints have as well. */
function ownArguments(argv: readonly string[], { program }: Agent): readonly string[] {
  const last = typeof program === 'string' ? undefined : program.at(-1)
  return last === undefined ? argv : argv.slice(argv.lastIndexOf(last) + 1)
}

/** How the working tree must be changed. Refuses where there is something in it that would be lost. */
async function lookAround(keeping: Keeping, last: Checkpoint, checkpoints: Checkpoints): Promise<Place> {
  const { change, head } = await orRefuse('cannot-restore', checkpoints.compare(keeping, last))
  if (change.files === 0) return 'same'
  const own = await orRefuse('cannot-restore', checkpoints.compare(keeping, null))
  if (own.change.files > 0) throw changesOfItsOwn(keeping.cwd)
  return last.head !== null && last.head !== head ? 'branch' : 'here'
}

function changesOfItsOwn(cwd: string): Refusal {
  return refusal(
    'cannot-restore',
    `the working tree in ${cwd} has changes of its own`,
    'commit or stash them, or go on in a fresh clone',
  )
}

function requestOf({ session, goal }: Record, thread: string | null) {
  const { agent, task, autonomy, model, effort } = session
  return {
    agent,
    name: task,
    prompt: Buffer.from(goal[0] ?? '').toString('base64'),
    autonomy,
    ...(model !== null && { model }),
    ...(effort !== null && { effort }),
    ...(thread !== null && { thread }),
  }
}

interface Prospect {
  readonly last: Checkpoint
  readonly thread: string | null
  readonly argv: readonly string[]
  readonly place: Place
}

function outlookOn(record: Record, { last, thread, argv, place }: Prospect): OutlookView {
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
    next: `${[record.session.agent, ...argv].join(' ')}: ${PLACES[place](last)}; then ${
      thread === null
        ? 'a fresh conversation begins, which is told what was done'
        : 'the agent goes on in that conversation'
    }`,
  }
}

/** What becomes of the working tree: nothing, other files on the branch that it is on, or those on a branch of their own. */
type Place = 'same' | 'here' | 'branch'

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
  if (found.change.files > 0) throw changesOfItsOwn(spec.cwd)
  if (last.head !== null && last.head !== found.head)
    await checkpoints.switchTo(keeping, `oneshot/${spec.name}-${spec.id}`, last.head)
  await checkpoints.restoreHere(keeping, last, await save())
}
