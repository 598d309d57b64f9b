import { isIdle, type Session } from '../core/session.ts'
import { keepingOf } from '../ports/keeping-of.ts'
import { Trouble } from '../lib/trouble.ts'
import { type Checkpoints, Unkept } from '../ports/checkpoints.ts'

/** What has become of the files of a session that nobody works on, since they were saved last: sentences. */
export async function filesSince(session: Session, checkpoints: Checkpoints): Promise<string[]> {
  const { spec, phase, saved } = session
  if (saved.last === null || (phase.name !== 'ended' && !isIdle(session))) return []
  const keeping = keepingOf(spec)
  try {
    const last = (await checkpoints.list(keeping)).at(-1)
    if (last === undefined) return [`its checkpoints are gone from ${spec.cwd}`]
    const { change, head } = await checkpoints.compare(keeping, last)
    const { files } = change
    const differ = `${files === 1 ? '1 file differs' : `${files} files differ`} from checkpoint ${last.number}`
    return [
      ...(files === 0 ? [] : [differ]),
      ...(head === last.head ? [] : [`HEAD is at ${briefly(head)}, and was at ${briefly(last.head)} then`]),
    ]
  } catch (cause) {
    if (cause instanceof Unkept) return [`${cause.message}: nothing can be saved`]
    if (cause instanceof Trouble) return []
    throw cause
  }
}

function briefly(head: string | null): string {
  return head === null ? 'no commit' : head.slice(0, 10)
}
