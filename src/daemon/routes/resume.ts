import { type Session, type Spec, isIdle } from '../../core/session/session.ts'
import { type Checkpoints, NotSaved, checkpointTargetOf } from '../../ports/checkpoints.ts'
import { Trouble } from '../../lib/errors.ts'
import { LOOP_KINDS } from '../../api/contract/agent-kinds.ts'
import { parseListPath } from '../loop-list.ts'

/** Describes the changes to an inactive session's files since its last checkpoint, one sentence each. */
export async function describeFileChanges(session: Session, checkpoints: Checkpoints): Promise<string[]> {
  const { spec, phase, saved } = session
  if (saved.last === null || (phase.name !== 'ended' && !isIdle(session))) return []
  const target = checkpointTargetOf(spec)
  try {
    const last = (await checkpoints.list(target)).at(-1)
    if (last === undefined) return [`its checkpoints are gone from ${spec.cwd}`]
    const { change, head } = await checkpoints.compareWorktree(target, last)
    const { files } = change
    const difference = `${files === 1 ? '1 file differs' : `${files} files differ`} from checkpoint ${last.number}`
    return [
      ...(files === 0 ? [] : [difference]),
      ...(head === last.head ? [] : [`HEAD is at ${shortCommit(head)}, and was at ${shortCommit(last.head)} then`]),
    ]
  } catch (cause) {
    if (cause instanceof NotSaved) return [`${cause.message}: nothing can be saved`]
    if (cause instanceof Trouble) return []
    throw cause
  }
}

function shortCommit(head: string | null): string {
  return head === null ? 'no commit' : head.slice(0, 10)
}

/**
 * Describes how to give a finished session more work. A loop takes more work through its list, because only its agents
 * read messages.
 */
export function describeMoreWork({ name, agent, argv }: Spec): string {
  if (!LOOP_KINDS.includes(agent)) return `give it more to do: oneshot send ${name} "…"`
  const list = parseListPath({ argv })
  return `${list === null ? 'open another issue' : `add a box to ${list}`}, then: oneshot ralph`
}
