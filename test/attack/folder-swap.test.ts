import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { replaceFile, replaceIn, rewriteDurably, writeDurably } from '../../src/os/files/file-io.ts'
import { addToGitExclude } from '../../src/state/git-exclude.ts'
import { openFolder, openFolderWithoutLinks } from '../../src/os/files/folder-handle.ts'
import { count, object } from '../../src/lib/codec.ts'
import { removeTree, unlinkBelow } from '../../src/os/files/remove-tree.ts'
import { openSessionFolder } from '../../src/world/project-files/agent-folder.ts'
import { fileTaskSource } from '../../src/world/task-list/file-source.ts'
import { JournalEntry } from '../../src/world/git/worktrees/journal.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { openWorktreesFixture } from '../contracts/worktrees-fixture.ts'
import { attackSize } from './attack-size.ts'
import { swapForever } from './swap-folders.ts'

const NAMES = Array.from({ length: 30 }, (_, at) => `file-${at}`)

/** A project, and a folder outside of it whose files must stay as they are. */
function place(): { project: string; outside: string; expectWhole: () => void } {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'os-swap-')))
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const [project, outside] = [path.join(root, 'project'), path.join(root, 'outside')]
  for (const folder of [project, path.join(outside, 'deep')]) fs.mkdirSync(folder, { recursive: true })
  const files = [...NAMES, ...NAMES.map(name => `deep/${name}`)]
  for (const name of files) fs.writeFileSync(path.join(outside, name), 'precious')
  const all = (): string[] => fs.readdirSync(outside, { recursive: true, encoding: 'utf8' }).sort()
  const before = all()
  return {
    project,
    outside,
    expectWhole: () => {
      expect(all()).toEqual(before)
      for (const name of files) expect(fs.readFileSync(path.join(outside, name), 'utf8')).toBe('precious')
    },
  }
}

/** Returns whether it succeeded. A refusal is no failure: somebody swaps the folders. */
function attempt(deed: () => void): boolean {
  try {
    deed()
    return true
  } catch {
    return false
  }
}

test('the removal of a tree deletes nothing outside while somebody swaps its folders for links', {
  tags: ['extended'],
}, async () => {
  const { project, outside, expectWhole } = place()
  const tree = path.join(project, 'tree')
  const folders = ['a', 'b', 'c'].map(name => path.join(tree, name))
  await swapForever([...folders, tree], outside)
  for (let round = 0; round < attackSize(60, 1_500); round++) {
    // Made elsewhere, so that it is not the test that writes through a link.
    const stage = path.join(project, `stage-${round}`)
    for (const folder of ['a', 'b', 'c']) {
      fs.mkdirSync(path.join(stage, folder, 'deep'), { recursive: true })
      for (const name of NAMES) fs.writeFileSync(path.join(stage, folder, 'deep', name), 'x')
    }
    attempt(() => fs.renameSync(stage, tree))
    attempt(() => removeTree(tree))
    attempt(() => unlinkBelow(project, Buffer.from('tree/a/deep/file-1')))
  }
  expectWhole()
})

test('removeTree removes a very deep tree with links and names that are no text, and keeps the targets of the links', () => {
  const { project, outside, expectWhole } = place()
  const tree = path.join(project, 'tree')
  let folder = tree
  for (let depth = 0; depth < 300; depth++) folder = path.join(folder, 'd')
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0xfe])]), 'x')
  fs.symlinkSync(outside, path.join(tree, 'link'))
  fs.symlinkSync(outside, path.join(folder, 'link'))
  removeTree(tree)
  expect(fs.readdirSync(project)).toEqual([])
  fs.symlinkSync(outside, path.join(project, 'link'))
  removeTree(path.join(project, 'link', 'deep'))
  removeTree(path.join(project, 'link'))
  expect(fs.readdirSync(project)).toEqual([])
  expectWhole()
})

test('oneshot writes nothing outside while somebody swaps its folders for links', async () => {
  const { project, outside, expectWhole } = place()
  const folders = ['.git', '.git/oneshot', '.git/info', 'list'].map(name => path.join(project, name))
  for (const folder of folders) fs.mkdirSync(folder)
  for (const name of ['HEAD', 'objects']) fs.writeFileSync(path.join(project, '.git', name), '')
  fs.writeFileSync(path.join(project, 'list', 'file-1'), '- [ ] a\n')
  await swapForever(folders, outside)
  let written = 0
  for (let round = 0; round < attackSize(300, 10_000); round++) {
    const note = new JournalEntry(path.join(project, '.git', 'oneshot', 'file-2'), object({ round: count }))
    if (attempt(() => note.write({ round }))) written++
    attempt(() => addToGitExclude(project, [`.agent-${round}/`]))
    attempt(() => rewriteDurably(path.join(project, 'list', 'file-1'), 1_000, () => Buffer.from(`${round}`)))
  }
  expect(written).toBeGreaterThan(0)
  expectWhole()
})

test('the task list ticks a box in its own file only and follows no link, in the place of its draft or of the list', async () => {
  const { project, outside, expectWhole } = place()
  const victim = path.join(outside, 'file-1')
  const list = path.join(project, 'PRD.md')
  const source = fileTaskSource('markdown', 'PRD.md')
  const { signal } = new AbortController()
  fs.writeFileSync(list, '- [ ] a $(touch pwned)\n', { mode: 0o640 })
  for (const name of [`PRD.md.${process.pid}.tmp`, '.PRD.md.tmp']) fs.symlinkSync(victim, path.join(project, name))
  const [item] = (await source.read(project, signal)).items
  await source.mark(project, [{ key: item?.key ?? '', isDone: true, reason: 'x' }], signal)
  expect(fs.readFileSync(list, 'utf8')).toBe('- [x] a $(touch pwned)\n')
  expect(fs.statSync(list).mode & 0o777).toBe(0o640)
  fs.rmSync(list)
  fs.symlinkSync(victim, list)
  await expect(source.read(project, signal)).rejects.toThrow('leads out of the project')
  await expect(source.mark(project, [], signal)).rejects.toThrow('leads out of the project')
  for (const write of [writeDurably, replaceFile]) write(list, 'mine')
  expect(fs.lstatSync(list).isFile()).toBe(true)
  expectWhole()
})

test('oneshot empties no folder in .agent: it keeps or renames one in the place of a file, a draft or an archive', async () => {
  const { project, outside, expectWhole } = place()
  const owner = { project, name: 'demo', id: testSessionId('aaaaaaaaaa') }
  const folder = openSessionFolder(owner, () => true)
  if (folder === null) throw new Error('there is no folder')
  const at = path.join(project, '.agent', 'demo')
  const traps = ['.STATUS.md.tmp', 'STATUS.md', '.session.log.gz.tmp', 'session.log.1.gz', '.session.log.tmp']
  for (const name of traps) {
    fs.mkdirSync(path.join(at, name))
    for (const file of NAMES) fs.writeFileSync(path.join(at, name, file), 'mine')
  }
  expect(() => replaceIn(folder, 'STATUS.md', 'new')).toThrow(/oneshot renamed it to STATUS\.md\.aside-\w+/)
  expect(fs.readFileSync(path.join(at, 'STATUS.md'), 'utf8')).toBe('new')
  folder.close()
  const stop = await swapForever(
    traps.map(name => path.join(at, name)),
    outside,
  )
  for (let round = 0; round < attackSize(50, 1_000); round++) {
    attempt(() => openSessionFolder({ ...owner, id: testSessionId(`b${round}`) }, () => true)?.close())
  }
  await stop()
  expectWhole()
  const kept = fs.readdirSync(at, { withFileTypes: true }).filter(entry => entry.isDirectory())
  expect(kept.length).toBeGreaterThan(0)
  for (const { name } of kept) expect(fs.readdirSync(path.join(at, name))).toHaveLength(NAMES.length)
})

test('oneshot opens a folder only by a path without links', () => {
  const { project, outside, expectWhole } = place()
  fs.symlinkSync(outside, path.join(project, 'link'))
  expect(openFolder(path.join(project, 'link'))).toBeNull()
  expect(openFolderWithoutLinks(path.join(project, 'link', 'deep'))).toBeNull()
  expectWhole()
})

test('oneshot neither makes nor removes worktrees behind a link', async () => {
  const { repo, shop: worktrees, bench, head, root } = openWorktreesFixture()
  const outside = path.join(root, 'outside')
  fs.mkdirSync(outside)
  fs.symlinkSync(outside, path.join(repo, '.agent'))
  await expect(worktrees.open(repo, bench('one'), head(repo))).rejects.toThrow('leads elsewhere by a link')
  await expect(worktrees.remove(repo, bench('one'), 'HEAD')).rejects.toThrow('leads elsewhere by a link')
  fs.rmSync(path.join(repo, '.agent'))
  fs.mkdirSync(path.join(repo, '.agent'))
  fs.symlinkSync(outside, path.join(repo, '.agent', 'worktrees'))
  await expect(worktrees.open(repo, bench('one'), head(repo))).rejects.toThrow('leads elsewhere by a link')
  expect(fs.readdirSync(outside)).toEqual([])
})
