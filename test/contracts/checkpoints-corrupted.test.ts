import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { CheckpointTarget } from '../../src/ports/checkpoints.ts'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'

function begin(fixture: GitFixture): string {
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  return repo
}

const dropObject = (repo: string, object: string): void =>
  fs.rmSync(path.join(repo, '.git/objects', object.slice(0, 2), object.slice(2)))

async function saveSome(fixture: GitFixture, repo: string, count: number): Promise<CheckpointTarget> {
  const target = fixture.checkpointTarget(repo)
  for (let n = 0; n < count; n++) {
    put(repo, 'work.txt', `${n}`)
    await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest({ at: n * 1000 }), NEVER))
  }
  return target
}

const numbersOf = async (fixture: GitFixture, target: CheckpointTarget): Promise<number[]> =>
  (await fixture.checkpoints().list(target)).map(({ number }) => number)

test('the checkpoint before a missing newest one counts as the newest', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = await saveSome(fixture, repo, 3)
  dropObject(repo, (await fixture.checkpoints().list(target)).at(-1)?.commit ?? '')
  put(repo, 'a.txt', 'later')
  expect(await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))).toMatchObject({
    number: 3,
  })
  expect(await numbersOf(fixture, target)).toEqual([1, 2, 3])
  fixture.git(repo, 'gc', '--quiet')
})

test('oneshot ignores a broken chain of checkpoints when it looks for sessions, and can remove it', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const [broken, other] = [await saveSome(fixture, repo, 2), await saveSome(fixture, repo, 1)]
  dropObject(repo, (await fixture.checkpoints().list(broken)).at(-1)?.commit ?? '')
  expect((await fixture.checkpoints().findSessions(repo)).map(({ sessionId }) => sessionId)).toEqual([other.sessionId])
  await fixture.checkpoints().removeAll(broken)
  fixture.git(repo, 'gc', '--quiet')
})

test('the checkpointer saves a file again whose object all checkpoints miss, and keeps the checkpoints', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  put(repo, 'notes.txt', 'never committed')
  const target = await saveSome(fixture, repo, 4)
  dropObject(repo, fixture.git(repo, 'hash-object', 'notes.txt').trim())
  put(repo, 'a.txt', 'next')
  await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))
  expect(await numbersOf(fixture, target)).toEqual([1, 2, 3, 4, 5])
  fixture.expectIntact(repo)
})

test.each([
  ['one.txt', 'one.txt'],
  ['folder/one.txt', 'folder/one.txt'],
  ['an "odd"\nname\\é', 'an "odd"'],
])(
  'after the loss of the content of %j, all checkpoints stay without it, and the next one names it',
  async (name, shown) => {
    const fixture = openGitFixture()
    const repo = begin(fixture)
    put(repo, name, 'only in checkpoints')
    const target = await saveSome(fixture, repo, 4)
    dropObject(repo, fixture.git(repo, 'hash-object', name).trim())
    fs.rmSync(path.join(repo, name))
    const next = await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))
    expect(next.number).toBe(5)
    expect(next.leftOut.join()).toContain(shown)
    expect(next.leftOut.join()).toContain('lost from 4 of the checkpoints 1 to 4: git no longer has the content')
    const all = await fixture.checkpoints().list(target)
    expect(all.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
    for (const { commit } of all.slice(0, 4))
      expect(fixture.git(repo, 'ls-tree', '-r', '--name-only', commit).split('\n')).toEqual(['a.txt', 'work.txt', ''])
    expect(fixture.git(repo, 'show', `${all[1]?.commit}:work.txt`)).toBe('1')
    fixture.git(repo, 'gc', '--quiet')
    fixture.expectIntact(repo)
  },
)

test('after the loss of a folder’s tree, all checkpoints stay without the folder', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  put(repo, 'folder/deep/one.txt', 'one')
  put(repo, 'folder/two.txt', 'two')
  const target = await saveSome(fixture, repo, 3)
  const [first] = await fixture.checkpoints().list(target)
  dropObject(repo, fixture.git(repo, 'rev-parse', `${first?.commit}:folder/deep`).trim())
  fs.rmSync(path.join(repo, 'folder'), { recursive: true })
  const next = await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))
  expect(next).toMatchObject({
    number: 4,
    leftOut: ['folder/deep lost from 3 of the checkpoints 1 to 3: git no longer has the content'],
  })
  const [again] = await fixture.checkpoints().list(target)
  expect(fixture.git(repo, 'ls-tree', '-r', '--name-only', again?.commit ?? '')).toBe(
    'a.txt\nfolder/two.txt\nwork.txt\n',
  )
  fixture.git(repo, 'gc', '--quiet')
})

test.each(['tree', 'commit'])(
  'after the loss of the %s of every checkpoint, the next one continues the numbers and says so',
  async kind => {
    const fixture = openGitFixture()
    const repo = begin(fixture)
    const target = await saveSome(fixture, repo, 3)
    for (const { commit } of await fixture.checkpoints().list(target)) {
      if (kind === 'tree') dropObject(repo, fixture.git(repo, 'rev-parse', `${commit}^{tree}`).trim())
      else dropObject(repo, commit)
    }
    put(repo, 'a.txt', 'later')
    const next = await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))
    expect(next.number).toBe(4)
    expect(next.leftOut.join()).toMatch(/lost: git no longer has/)
    expect(await numbersOf(fixture, target)).toEqual([4])
    fixture.git(repo, 'gc', '--quiet')
  },
)

test('checkpoints stay after somebody rewrites history, and oneshot can thin them', {
  tags: ['extended'],
}, async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = await saveSome(fixture, repo, 25)
  fixture.git(
    repo,
    'config',
    'alias.rewrite',
    'filter-branch -f --msg-filter cat --env-filter "export GIT_AUTHOR_NAME=x"',
  )
  fixture.git(repo, 'rewrite', '--', '--all')
  for (const ref of fixture.git(repo, 'for-each-ref', '--format=%(refname)', 'refs/original').trim().split('\n')) {
    fixture.git(repo, 'update-ref', '-d', ref)
  }
  fixture.git(repo, 'reflog', 'expire', '--expire=now', '--all')
  fixture.git(repo, 'gc', '--quiet', '--prune=now')
  expect(await fixture.checkpoints().prune(target, 10 * 86_400_000)).toBe(23)
  const folder = path.join(fixture.state, target.sessionId)
  for (const name of fs.readdirSync(folder)) if (name.startsWith('index-')) fs.truncateSync(`${folder}/${name}`, 100)
  put(repo, 'a.txt', 'next')
  await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))
  expect(await numbersOf(fixture, target)).toEqual([1, 25, 26])
})

test('oneshot thins no checkpoints during a garbage collection, and restores the chain if one ran meanwhile', {
  tags: ['extended'],
}, async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = await saveSome(fixture, repo, 25)
  const collector = path.join(repo, '.git/gc.pid')
  fs.writeFileSync(collector, '1 elsewhere')
  expect(await fixture.checkpoints().prune(target, 10 * 86_400_000)).toBe(0)
  fs.rmSync(collector)
  // One that looked before the ref was moved, and removes after it.
  const script = `#!/bin/sh
PATH='${process.env['PATH']}'
case " $* " in *" update-ref "*) ;; *) exec git "$@" ;; esac
git prune --dry-run --expire=now > ../pruned
touch .git/gc.pid
git "$@"
code=$?
while read object rest; do rm -f .git/objects/$(echo $object | cut -c1-2)/$(echo $object | cut -c3-); done < ../pruned
rm -f .git/gc.pid
exit $code
`
  put(fixture.root, 'bin/git', script, 0o755)
  const beside = fixture.checkpoints({ env: { ...fixture.env, PATH: `${fixture.root}/bin:${process.env['PATH']}` } })
  expect(await beside.prune(target, 10 * 86_400_000)).toBe(0)
  expect(await numbersOf(fixture, target)).toHaveLength(25)
  fixture.git(repo, 'gc', '--quiet')
})
