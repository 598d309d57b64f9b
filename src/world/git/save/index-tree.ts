import type { Place } from '../place.ts'
import type { Gathered } from './gather.ts'
import { LATER } from './objects.ts'
import type { PrivateIndex } from './private-index.ts'

/** The tree that the private index stands for; when nothing was changed in it, the one that it stood for last time. */
export async function indexTree({ git }: Place, index: PrivateIndex, gathered: Gathered): Promise<string> {
  if (gathered.written !== null) return gathered.written.tree
  if (!gathered.isChanged && index.notes !== null) return index.notes.tree
  return git.line([...(gathered.isFlushed ? [] : LATER), 'write-tree'], { index: index.file })
}
