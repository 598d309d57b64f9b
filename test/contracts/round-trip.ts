import fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { type GitFixture, NEVER, makeCheckpointRequest, put, savedCheckpoint } from './git-fixture.ts'
import { readTree, readUserState } from './read-tree.ts'

/**
 * Saves a working tree, changes everything in it, and restores it: in place, and into another folder. Both must equal
 * the saved tree, and nothing of the user may have changed.
 */
export async function roundTrip(fixture: GitFixture, top: string, cwd = top): Promise<void> {
  const target = fixture.checkpointTarget(cwd)
  const checkpoints = fixture.checkpoints()
  const before = readUserState(top)
  const tree = readTree(top)
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(first.leftOut).toEqual([])
  expect(readUserState(top)).toEqual(before)
  expect(await checkpoints.save(target, makeCheckpointRequest(), NEVER)).toMatchObject({ isNew: false })

  changeEverything(top)
  const over = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const upsetState = readUserState(top)
  expect(await checkpoints.restoreInPlace(target, first, over)).toEqual([])
  expect(readTree(top)).toEqual(tree)
  expect(withoutFiles(readUserState(top))).toEqual(withoutFiles(upsetState))

  const beside = path.join(fixture.root, `beside-${first.commit.slice(0, 8)}`)
  const branch = `back-${first.commit.slice(0, 8)}`
  expect(await checkpoints.restoreToBranch(target, first, { branch, worktree: beside })).toEqual([])
  expect(readTree(beside)).toEqual(tree)
  fixture.git(top, 'rev-list', '--objects', '--quiet', '--glob=refs/oneshot')
}

/** Changes everything: a folder becomes a file, and so on. */
function changeEverything(top: string): void {
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

/** Removes the files of the working tree, which are meant to change. */
function withoutFiles(state: Map<string, string>): Map<string, string> {
  return new Map([...state].filter(([name]) => name.startsWith('.git/')))
}
