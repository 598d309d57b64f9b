import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { bytesOf, type RawPath, rawPath } from '../../../lib/raw-path.ts'
import { NO_INDEX } from '../git.ts'
import { GitFailed } from '../git-failed.ts'
import type { Place } from '../place.ts'

/** A path that is different in two trees. */
export interface Entry {
  readonly path: RawPath
  /** `MODE HASH` in the first one; null when it is not there. */
  readonly before: string | null
  /** The hash in the second one; null when it is not there. */
  readonly after: string | null
  /** Whether the second one has another repository there. */
  readonly isRepository: boolean
}

/** `:MODE MODE HASH HASH LETTER`, then the path. */
export async function changesOf({ git }: Place, from: string, to: string): Promise<Entry[]> {
  const command = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--abbrev=64', from, to]
  const words = rawPath(await git.run(command, { index: NO_INDEX })).split('\0')
  const entries: Entry[] = []
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [mode = '', then, hash, other = ''] = (words[at] as string).slice(1).split(' ')
    const before = mode === '000000' ? null : `${mode} ${hash}`
    const after = then === '000000' ? null : other
    entries.push({ path: words[at + 1] as RawPath, before, after, isRepository: then === '160000' })
  }
  return entries
}

/** A tree in which these paths are as they were before. */
export async function treeWithout(place: Place, tree: string, entries: readonly Entry[]): Promise<string> {
  if (entries.length === 0) return tree
  const { git, repository } = place
  const nothing = `0 ${repository.nothing.commit}`
  const lines = entries.map(({ path: file, before }) => `${before ?? nothing}\t${file}\0`)
  // What goes may lie where something is to come to lie.
  const input = bytesOf(
    [...lines.filter(line => line.startsWith('0 ')), ...lines.filter(line => !line.startsWith('0 '))].join(''),
  )
  return withIndex(place, async index => {
    const answer = await git.script(REPLACE, [tree], { index, input })
    if (answer.code !== 0) throw new GitFailed('update-index', answer)
    return answer.stdout.toString().trim()
  })
}

const REPLACE = `
git read-tree "$1" </dev/null || exit
git update-index -z --index-info || exit
git write-tree
`

/** An index of its own for one purpose. */
export async function withIndex<T>({ folder }: Place, work: (index: string) => Promise<T>): Promise<T> {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const index = path.join(folder, `draft-${crypto.randomBytes(4).toString('hex')}`)
  try {
    return await work(index)
  } finally {
    fs.rmSync(index, { force: true })
  }
}
