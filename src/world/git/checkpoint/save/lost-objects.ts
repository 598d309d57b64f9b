import type { RawPath } from '../../../../lib/text/raw-path.ts'
import { missingObjects } from '../../fsync-objects.ts'
import type { RepositoryContext } from '../../repository-context.ts'

/** The number of lost files and folders of one checkpoint; a checkpoint with more counts as lost. */
const MAX_LOST = 10_000
/** The depth of nested folders; no file system allows a path that long. */
const MAX_DEPTH = 1_000

interface TreeEntry {
  readonly name: RawPath
  readonly id: string
  readonly kind: 'tree' | 'file' | 'repository'
}

/** By tree: its entries, or null if git lacks it. */
type Trees = Map<string, readonly TreeEntry[] | null>

/**
 * Returns for each tree the topmost paths whose content git lacks; null if git lacks the tree itself, or almost all of
 * it.
 */
export async function findLostPaths(
  context: RepositoryContext,
  roots: readonly string[],
): Promise<ReadonlyMap<string, readonly RawPath[] | null>> {
  const trees: Trees = new Map()
  for (let level = [...new Set(roots)]; level.length > 0; ) {
    await readTrees(context, level, trees)
    const found = level.flatMap(tree => trees.get(tree) ?? []).flatMap(({ kind, id }) => (kind === 'tree' ? [id] : []))
    level = [...new Set(found)].filter(tree => !trees.has(tree))
  }
  const files = [...trees.values()].flatMap(entries => entries ?? []).filter(({ kind }) => kind === 'file')
  const missing = await missingObjects(context, [...new Set(files.map(({ id }) => id))])
  const lost = new Set(missing.map(line => line.split(' ')[0]))
  const known = new Map<string, readonly RawPath[] | null>()
  const lostIn = (tree: string, depth: number): readonly RawPath[] | null => {
    const before = known.get(tree)
    if (before !== undefined) return before
    const entries = trees.get(tree)
    const paths = entries ? collectLost(entries, lost, id => lostIn(id, depth + 1)) : null
    const result = paths !== null && paths.length <= MAX_LOST && depth < MAX_DEPTH ? paths : null
    known.set(tree, result)
    return result
  }
  return new Map(roots.map(root => [root, lostIn(root, 0)]))
}

function collectLost(
  entries: readonly TreeEntry[],
  lost: ReadonlySet<string | undefined>,
  lostIn: (tree: string) => readonly RawPath[] | null,
): RawPath[] {
  return entries.flatMap(({ name, id, kind }) => {
    if (kind !== 'tree') return kind === 'file' && lost.has(id) ? [name] : []
    return lostIn(id)?.map(path => `${name}/${path}`) ?? [name]
  })
}

async function readTrees({ git, repository }: RepositoryContext, ids: readonly string[], into: Trees): Promise<void> {
  const length = repository.emptyIds.commit.length / 2
  const output = await git.run(['cat-file', '--batch', '--buffer'], { input: ids.map(id => `${id}\n`).join('') })
  for (const id of ids) into.set(id, null)
  into.set(repository.emptyIds.tree, [])
  for (let at = 0; at < output.length; ) {
    const begin = output.indexOf('\n', at) + 1
    const [id = '', type, size] = output.subarray(at, begin).toString('latin1').trim().split(' ')
    const end = begin + Number(size)
    if (type === 'tree') into.set(id, parseTree(output.subarray(begin, end), length))
    at = type === 'missing' ? begin : end + 1
  }
}

/** Parses `MODE NAME<NUL>ID`. */
function parseTree(raw: Buffer, length: number): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < raw.length; ) {
    const [space, end] = [raw.indexOf(' ', at), raw.indexOf(0, at)]
    if (space < 0 || end < 0) break
    const mode = raw.toString('latin1', at, space)
    const kind = mode === '40000' ? 'tree' : mode === '160000' ? 'repository' : 'file'
    const id = raw.toString('hex', end + 1, end + 1 + length)
    entries.push({ name: raw.toString('latin1', space + 1, end), id, kind })
    at = end + 1 + length
  }
  return entries
}
