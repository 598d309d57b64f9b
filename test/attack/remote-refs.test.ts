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
import { forgeCheckpoint, writeObject, checkpointMessage } from './forge-checkpoint.ts'

const env = (fixture: GitFixture): Record<string, string> => fixture.env as Record<string, string>

function begin(): { bench: GitFixture; remote: string; clone: string } {
  const fixture = openGitFixture()
  const remote = fixture.repository('remote.git', '--bare')
  const clone = fixture.repository('clone')
  put(clone, 'a.txt', 'a\n')
  fixture.git(clone, 'add', '.')
  fixture.git(clone, 'commit', '--quiet', '--message', 'first')
  return { bench: fixture, remote, clone }
}

test('a fetch ignores refs that only look like those of oneshot, and changes no branch, tag or ref of this machine', async () => {
  const { bench: fixture, remote, clone } = begin()
  const ref = (name: string): string => `refs/oneshot/demo-far/${name}`
  const good = forgeCheckpoint(fixture, remote, { ref: ref('good'), message: checkpointMessage({ Session: 'good' }) })
  // The same id in other letters, as a tag, as a tree, through a symbolic ref, in a loop of those, and beside the folder.
  forgeCheckpoint(fixture, remote, { ref: ref('GOOD'), message: checkpointMessage({ Session: 'GOOD' }) })
  forgeCheckpoint(fixture, remote, {
    ref: 'refs/oneshot/DEMO-far/good',
    message: checkpointMessage({ Session: 'good', Checkpoint: '9' }),
  })
  forgeCheckpoint(fixture, remote, {
    ref: 'refs/oneshot-fetched/demo-far/good',
    message: checkpointMessage({ Session: 'good' }),
  })
  forgeCheckpoint(fixture, remote, { ref: 'refs/heads/main', message: 'theirs' })
  const tag = `object ${good}\ntype commit\ntag x\ntagger o <o@o> 1767225600 +0000\n\nx\n`
  fixture.git(remote, 'update-ref', ref('tag'), writeObject(fixture, remote, 'tag', tag))
  fixture.git(remote, 'update-ref', ref('tree'), writeObject(fixture, remote, 'tree', ''))
  fixture.git(remote, 'symbolic-ref', ref('link'), ref('good'))
  put(remote, ref('loop'), `ref: ${ref('pool')}\n`)
  put(remote, ref('pool'), `ref: ${ref('loop')}\n`)
  put(remote, 'refs/oneshot/demo-far/zero', `${'0'.repeat(40)}\n`)
  put(remote, 'refs/oneshot/demo-far/gone', `${'1'.repeat(40)}\n`)
  fixture.git(remote, 'update-ref', 'refs/tags/v1', good)
  fixture.git(clone, 'update-ref', 'refs/tags/v1', 'HEAD')
  fixture.git(clone, 'config', 'remote.origin.url', remote)
  fixture.git(clone, 'config', 'remote.origin.fetch', '+refs/*:refs/*')
  fixture.git(clone, 'config', 'remote.origin.mirror', 'true')
  fixture.git(clone, 'config', 'fetch.prune', 'true')
  const refs = (): string => fixture.git(clone, 'for-each-ref')
  const before = refs()
  const checkpoints = fixture.checkpoints()
  const fetched = await checkpoints.fetch(clone, { remote: 'origin', env: env(fixture) }, all => all, NEVER)
  expect(fetched.taken.map(one => one.ref)).toEqual([ref('good')])
  expect(
    refs()
      .split('\n')
      .filter(line => !before.includes(line)),
  ).toEqual([`${good} commit\t${ref('good')}`])
  expect(refs().split('\n')).toEqual(expect.arrayContaining(before.split('\n')))
  await checkpoints.undoFetch(clone, fetched)
  expect(refs()).toBe(before)
})

test('a fetch from a remote with ten thousand junk refs takes only the session that was asked for', async () => {
  const { bench: fixture, remote, clone } = begin()
  const good = forgeCheckpoint(fixture, remote, {
    ref: 'refs/oneshot/demo-far/good',
    message: checkpointMessage({ Session: 'good' }),
  })
  const lines = Array.from({ length: 10_000 }, (_, at) => `${good} refs/oneshot/demo-far/x${at}\n`)
  put(remote, 'packed-refs', `# pack-refs with: peeled fully-peeled sorted \n${lines.toSorted().join('')}`)
  const checkpoints = fixture.checkpoints()
  const wanted = await checkpoints.fetch(
    clone,
    { remote, env: env(fixture) },
    all => all.filter(({ sessionId }) => sessionId === 'good'),
    NEVER,
  )
  expect(wanted.taken).toHaveLength(1)
  await checkpoints.fetch(clone, { remote, env: env(fixture) }, all => all, NEVER)
  expect(fixture.git(clone, 'for-each-ref', '--format=%(refname)', 'refs/oneshot')).toBe('refs/oneshot/demo-far/good\n')
  expect(
    await savedCheckpoint(checkpoints.save(fixture.checkpointTarget(clone), makeCheckpointRequest(), NEVER)),
  ).toMatchObject({ number: 1 })
})

test('a fetch refuses a remote with more refs than it can read, and says so', async () => {
  const { bench: fixture, remote, clone } = begin()
  const good = forgeCheckpoint(fixture, remote, {
    ref: 'refs/oneshot/demo-far/good',
    message: checkpointMessage({ Session: 'good' }),
  })
  const name = 'n'.repeat(200)
  const lines = Array.from(
    { length: 70_000 },
    (_, at) => `${good} refs/oneshot/${name}/${String(at).padStart(6, '0')}\n`,
  )
  fs.writeFileSync(path.join(remote, 'packed-refs'), `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`)
  const fetched = fixture.checkpoints().fetch(clone, { remote, env: env(fixture) }, all => all, NEVER)
  await expect(fetched).rejects.toMatchObject({
    message: expect.stringContaining('it has more refs than can be read'),
    mayHelpToRetry: false,
  })
})
