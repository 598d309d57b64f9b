import { refusal } from '../api/contract/problems.ts'
import type { Checkpoint } from '../core/checkpoint.ts'
import type { Spec } from '../core/session.ts'
import type { Refusal } from '../lib/refusal.ts'
import { reasonIn, Trouble } from '../lib/trouble.ts'
import type { Checkpoints, Keeping } from '../ports/checkpoints.ts'
import { keepingOf } from '../ports/keeping-of.ts'
import { orRefuse } from './keep.ts'

/** What becomes of the working tree: nothing, other files on the branch that it is on, or those on a branch of their own. */
export type Place = 'same' | 'here' | 'branch'

/** How the working tree must be changed. Refuses where there is something in it that would be lost. */
export async function lookAround(keeping: Keeping, last: Checkpoint, checkpoints: Checkpoints): Promise<Place> {
  const { change, head } = await orRefuse('cannot-restore', checkpoints.compare(keeping, last))
  if (change.files === 0) return 'same'
  const own = await orRefuse('cannot-restore', checkpoints.compare(keeping, null))
  if (own.change.files > 0) throw changesOfItsOwn(keeping.cwd)
  return last.head !== null && last.head !== head ? 'branch' : 'here'
}

interface Source {
  readonly last: Checkpoint
  /** What is known of it goes on being written down, from the first moment on. */
  readonly record: string
}

export async function moveInOrNot(spec: Spec, source: Source, checkpoints: Checkpoints): Promise<void> {
  try {
    await moveIn(spec, source, checkpoints)
  } catch (cause) {
    await checkpoints.forget(keepingOf(spec)).catch(() => undefined) // It is in nobody's way.
    throw cause instanceof Trouble ? refusal('cannot-restore', reasonIn(cause)) : cause
  }
}

/** Over nothing but what is committed: whoever has changes of their own here keeps them. */
async function moveIn(spec: Spec, { last, record }: Source, checkpoints: Checkpoints): Promise<void> {
  const keeping = keepingOf(spec)
  const save = async (): Promise<Checkpoint> => {
    const occasion = {
      trigger: 'start',
      attempt: 0,
      at: Date.now(),
      record,
      isRecordNews: false,
      isVisible: false,
    } as const
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

function changesOfItsOwn(cwd: string): Refusal {
  return refusal(
    'cannot-restore',
    `the working tree in ${cwd} has changes of its own`,
    'commit or stash them, or continue in a fresh clone',
  )
}
