import path from 'node:path'
import { type ObjectId, objectId } from '../../../core/checkpoint/object-id.ts'
import type { RawPath } from '../../../lib/text/raw-path.ts'
import { syncFiles, syncObjects } from '../fsync-objects.ts'
import type { RepositoryContext } from '../repository-context.ts'
import type { RawCommit } from './read-commits.ts'

/** A checkpoint that gets another parent or loses files. Its message and times stay. */
export interface RewrittenCommit {
  readonly raw: RawCommit
  /** The HEAD of that time; null if there is none. */
  readonly head: ObjectId | null
  /** Files and folders that the new commit does not have. */
  readonly removed: readonly RawPath[]
}

/** Writes a chain of commits on top of another commit, durably. Returns their ids, oldest first. */
export async function importCommits(
  context: RepositoryContext,
  commits: readonly RewrittenCommit[],
  onto: ObjectId | null,
): Promise<ObjectId[]> {
  const { git, repository } = context
  const scratch = `${context.ref}+thinned`
  const stream = commits.map((commit, at) =>
    fastImportCommit(scratch, { mark: at + 1, from: at === 0 ? onto : `:${at}`, ...commit }),
  )
  // git never creates the scratch ref: the stream resets it to nothing at the end.
  const marks = commits.map((_, at) => `get-mark :${at + 1}\n`).join('')
  const end = `${marks}reset ${scratch}\nfrom ${repository.emptyIds.commit}\n\n`
  const input = Buffer.concat([...stream, Buffer.from(end)])
  const ids = (await git.runForLine(['fast-import', '--quiet', '--date-format=raw'], { input })).split('\n')
  await syncObjects(context, ids)
  // fast-import writes a pack if there are many objects.
  await syncFiles([path.join(repository.commonDir, 'objects', 'pack')])
  return ids.map(id => objectId(id))
}

interface ImportedCommit extends RewrittenCommit {
  readonly mark: number
  /** The parent: a commit, a mark, or null. */
  readonly from: string | null
}

function fastImportCommit(ref: string, { mark, from, raw, head, removed }: ImportedCommit): Buffer {
  const lines = [`commit ${ref}`, `mark :${mark}`, ...raw.authorLines, `data ${raw.message.length}`]
  const after = [
    ...(from === null ? [] : [`from ${from}`]),
    ...(head === null ? [] : [`merge ${head}`]),
    `M 040000 ${raw.tree} ""`,
    ...removed.map(path => `D ${quotePath(path)}`),
  ]
  return Buffer.concat([
    Buffer.from(`${lines.join('\n')}\n`, 'latin1'),
    raw.message,
    Buffer.from(`${after.join('\n')}\n\n`),
  ])
}

/** Returns the path in quotes, with a code for each byte that is no letter or digit. */
function quotePath(path: RawPath): string {
  const code = (byte: string): string => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`
  return `"${path.replaceAll(/[^\w/.-]/g, code)}"`
}
