import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import {
  type GitFixture,
  NEVER,
  makeCheckpointRequest,
  openGitFixture,
  put,
  savedCheckpoint,
} from '../contracts/git-fixture.ts'

/** A name that is no UTF-8 text, and the one that a program sees which takes it for text. */
const BYTES = Buffer.from([0x78, 0xff])
const TEXT = 'x\ufffd'

/** A program that leaves a mark when anybody runs it. */
function trap(root: string): { program: string; isSprung: () => boolean } {
  const mark = path.join(root, 'pwned')
  const program = path.join(root, 'trap.sh')
  fs.writeFileSync(program, `#!/bin/sh\necho "$*" >> ${mark}\nexec cat\n`, { mode: 0o755 })
  return { program, isSprung: () => fs.existsSync(mark) }
}

function begin(fixture: GitFixture): string {
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '--all')
  fixture.git(repo, 'commit', '--quiet', '--message', 'begin')
  return repo
}

function bytes(...parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map(part => Buffer.from(part as string)))
}

test.each(['filter', 'merge', 'diff'])('a checkpoint runs no %s driver whose name is no UTF-8 text', async kind => {
  const fixture = openGitFixture()
  const { program, isSprung } = trap(fixture.root)
  const repo = begin(fixture)
  const target = fixture.checkpointTarget(repo)
  const checkpoints = fixture.checkpoints()
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const keys = { filter: 'clean', merge: 'driver', diff: 'textconv' }[kind]
  fs.appendFileSync(path.join(repo, '.git/config'), bytes(`[${kind} "`, BYTES, `"]\n\t${keys} = ${program}\n`))
  put(repo, '.gitattributes', bytes(`* ${kind}=`, BYTES, '\n'))
  put(repo, 'b.txt', 'b\n')
  await expect(checkpoints.save(target, makeCheckpointRequest(), NEVER)).rejects.toThrow('is not UTF-8 text')
  expect(isSprung()).toBe(false)
})

test('a checkpoint refuses a working tree or an included file whose name is no UTF-8 text', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = fixture.checkpointTarget(repo)
  const checkpoints = fixture.checkpoints()
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  fs.symlinkSync('..', path.join(repo, '.git', TEXT))
  fs.symlinkSync(path.join(fixture.root, 'home'), bytes(`${repo}/.git/`, BYTES))
  const config = path.join(repo, '.git/config')
  const before = fs.readFileSync(config)
  fs.writeFileSync(bytes(`${repo}/.git/file-`, BYTES), '')
  for (const setting of [`[core]\n\tworktree = ${repo}/.git/`, `[include]\n\tpath = ${repo}/.git/file-`]) {
    fs.writeFileSync(config, bytes(before, setting, BYTES, '\n'))
    await expect(checkpoints.save(target, makeCheckpointRequest(), NEVER)).rejects.toThrow('is not UTF-8 text')
  }
  fs.writeFileSync(config, bytes(before, '[user]\n\tname = Ren', Buffer.from([0xe9]), '\n'))
  put(repo, 'b.txt', 'b\n')
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
})

test.each([
  ['no UTF-8 text', BYTES],
  ['cut short by a NUL', Buffer.from(`${TEXT}\0`)],
])('a checkpoint refuses a .git file whose path looks different to git: %s', async (_, name) => {
  const fixture = openGitFixture()
  const { program, isSprung } = trap(fixture.root)
  const repo = begin(fixture)
  const tree = path.join(fixture.root, 'tree')
  fixture.git(repo, 'worktree', 'add', '--quiet', tree)
  const target = fixture.checkpointTarget(tree)
  const checkpoints = fixture.checkpoints()
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const worktrees = path.join(repo, '.git/worktrees')
  // The file leads git to a folder whose configuration runs a program, and a reader of text to a folder without one.
  fs.cpSync(path.join(worktrees, 'tree'), path.join(worktrees, TEXT), { recursive: true })
  fs.cpSync(path.join(repo, '.git'), path.join(fixture.root, 'evil'), { recursive: true })
  fs.appendFileSync(path.join(fixture.root, 'evil/config'), `[filter "x"]\n\tclean = ${program}\n`)
  fs.mkdirSync(bytes(`${worktrees}/`, BYTES))
  for (const file of ['HEAD', 'index', 'gitdir'])
    fs.copyFileSync(path.join(worktrees, 'tree', file), bytes(`${worktrees}/`, BYTES, `/${file}`))
  fs.writeFileSync(bytes(`${worktrees}/`, BYTES, '/commondir'), `${path.join(fixture.root, 'evil')}\n`)
  fs.writeFileSync(path.join(tree, '.git'), bytes(`gitdir: ${worktrees}/`, name, '\n'))
  put(tree, '.gitattributes', '* filter=x\n')
  put(tree, 'b.txt', 'b\n')
  await expect(checkpoints.save(target, makeCheckpointRequest(), NEVER)).rejects.toThrow('is not UTF-8 text')
  expect(isSprung()).toBe(false)
})
