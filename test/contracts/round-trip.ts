import fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { type GitBench, NEVER, occasion, put, saved } from './git-bench.ts'
import { treeIn, userState } from './working-tree.ts'

/**
 * Saves a working tree, makes another of it, and restores the first: in its place, and beside it. Both must be what was saved,
 * and nothing that is the user's may have changed by it.
 */
export async function roundTrip(bench: GitBench, top: string, cwd = top): Promise<void> {
  const keeping = bench.keeping(cwd)
  const checkpoints = bench.checkpoints()
  const before = userState(top)
  const tree = treeIn(top)
  const first = await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(first.leftOut).toEqual([])
  expect(userState(top)).toEqual(before)
  expect(await checkpoints.save(keeping, occasion(), NEVER)).toMatchObject({ isNew: false })

  upset(top)
  const over = await saved(checkpoints.save(keeping, occasion(), NEVER))
  const upsetState = userState(top)
  expect(await checkpoints.restoreHere(keeping, first, over)).toEqual([])
  expect(treeIn(top)).toEqual(tree)
  expect(ofGit(userState(top))).toEqual(ofGit(upsetState))

  const beside = path.join(bench.root, `beside-${first.commit.slice(0, 8)}`)
  const branch = `back-${first.commit.slice(0, 8)}`
  expect(await checkpoints.restoreBeside(keeping, first, { branch, worktree: beside })).toEqual([])
  expect(treeIn(beside)).toEqual(tree)
  bench.git(top, 'rev-list', '--objects', '--quiet', '--glob=refs/oneshot')
}

/** Leaves nothing as it was: what was a folder is a file, and so on. */
function upset(top: string): void {
  const names = fs.readdirSync(top, { encoding: 'buffer' }).filter(name => name.toString() !== '.git')
  for (const [at, name] of names.entries()) {
    const file = Buffer.concat([Buffer.from(`${top}/`), name])
    const wasFolder = fs.lstatSync(file).isDirectory()
    fs.rmSync(file, { recursive: true })
    if (at % 3 === 0) continue
    if (wasFolder) fs.writeFileSync(file, 'a file now')
    else fs.mkdirSync(file)
    if (!wasFolder) fs.writeFileSync(Buffer.concat([file, Buffer.from('/inside')]), 'a folder now')
  }
  put(top, 'stray/file.txt', 'not there before\n')
}

/** Without the files of the working tree, which are meant to change. */
function ofGit(state: Map<string, string>): Map<string, string> {
  return new Map([...state].filter(([name]) => name.startsWith('.git/')))
}
