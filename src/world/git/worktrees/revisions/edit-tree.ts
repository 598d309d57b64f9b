import { rawPathBytes } from '../../../../lib/text/raw-path.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { GitError } from '../../git-error.ts'
import { type TreeChange } from './diff-trees.ts'

/** Returns a tree in which these paths are as they were before. */
export async function revertEntries(
  context: RepositoryContext,
  tree: string,
  entries: readonly TreeChange[],
): Promise<string> {
  if (entries.length === 0) return tree
  const { git, repository } = context
  const nothing = `0 ${repository.emptyIds.commit}`
  const lines = entries.map(({ path: file, before }) => `${before ?? nothing}\t${file}\0`)
  // Removals come first, because a removed path may block an added one.
  const input = rawPathBytes(
    [...lines.filter(line => line.startsWith('0 ')), ...lines.filter(line => !line.startsWith('0 '))].join(''),
  )
  return withTemporaryIndex(context, async index => {
    const result = await git.runScript(REPLACE_SCRIPT, [tree], { index, input })
    if (result.code !== 0) throw new GitError('update-index', result)
    return result.stdout.toString().trim()
  })
}

const REPLACE_SCRIPT = `
git read-tree "$1" </dev/null || exit
git update-index -z --index-info || exit
git write-tree
`

/** Runs work with a temporary index. */
export async function withTemporaryIndex<T>(
  { folder }: RepositoryContext,
  work: (index: string) => Promise<T>,
): Promise<T> {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const index = path.join(folder, `draft-${crypto.randomBytes(4).toString('hex')}`)
  try {
    return await work(index)
  } finally {
    fs.rmSync(index, { force: true })
  }
}
