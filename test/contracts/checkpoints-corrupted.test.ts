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
