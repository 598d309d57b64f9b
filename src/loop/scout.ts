import type { GroundView, ListView } from '../api/contract/loop-view.ts'
import { Refusal } from '../lib/refusal.ts'
import { Trouble, wordsOf } from '../lib/trouble.ts'
import { projectChecks } from '../world/checks/checks.ts'
import { gitWorkshop } from '../world/git/workshop/git-workshop.ts'
import { sourceAt } from '../world/tasks/source-at.ts'

export interface Scouting {
  readonly cwd: string
  /** The file that is meant; null for whichever is found. */
  readonly list: string | null
  readonly env: Readonly<Record<string, string>>
}

/** Looks at what a loop would find, and changes nothing. A list that is asked for and cannot be read is refused. */
export async function scout({ cwd, list, env }: Scouting): Promise<GroundView> {
  const survey = await gitWorkshop({ env }).survey(cwd)
  return {
    repository: survey && { branch: survey.branch, hasCommit: survey.head !== null, isClean: survey.isClean },
    list: await listAt({ cwd, list, env }),
    check: projectChecks(env).detect(cwd),
  }
}

/** Refuses with what was looked for where there is none. */
async function listAt({ cwd, list, env }: Scouting): Promise<ListView | Refusal> {
  try {
    const source = await sourceAt({ cwd, env }, list)
    const { items, objections } = await source.read(cwd, AbortSignal.timeout(PATIENCE))
    const tasks = items.map(({ label, title, isDone }) => ({ id: label, title, isDone }))
    return { file: source.file, tasks, objections }
  } catch (cause) {
    if (cause instanceof Refusal) return cause
    if (!(cause instanceof Trouble)) throw cause
    return new Refusal('no-tasks', wordsOf(cause), 'put that right, or name another list: oneshot ralph LIST')
  }
}

/** A task tracker answers within seconds. */
const PATIENCE = 60_000
