import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from '../contracts/git-bench.ts'
import { forge, hash, messageWith } from './forge.ts'

const env = (bench: GitBench): Record<string, string> => bench.env as Record<string, string>

function begin(): { bench: GitBench; remote: string; clone: string } {
  const bench = openGitBench()
  const remote = bench.repository('remote.git', '--bare')
  const clone = bench.repository('clone')
  put(clone, 'a.txt', 'a\n')
  bench.git(clone, 'add', '.')
  bench.git(clone, 'commit', '--quiet', '--message', 'first')
  return { bench, remote, clone }
}

test('refs that look like ours bring nothing, and leave branches, tags and refs of this machine as they are', async () => {
  const { bench, remote, clone } = begin()
  const ref = (name: string): string => `refs/oneshot/demo-far/${name}`
  const good = forge(bench, remote, { ref: ref('good'), message: messageWith({ Session: 'good' }) })
  // The same id in other letters, as a tag, as a tree, through a symbolic ref, in a loop of those, and beside the folder.
  forge(bench, remote, { ref: ref('GOOD'), message: messageWith({ Session: 'GOOD' }) })
  forge(bench, remote, {
    ref: 'refs/oneshot/DEMO-far/good',
    message: messageWith({ Session: 'good', Checkpoint: '9' }),
  })
  forge(bench, remote, { ref: 'refs/oneshot-fetched/demo-far/good', message: messageWith({ Session: 'good' }) })
  forge(bench, remote, { ref: 'refs/heads/main', message: 'theirs' })
  const tag = `object ${good}\ntype commit\ntag x\ntagger o <o@o> 1767225600 +0000\n\nx\n`
  bench.git(remote, 'update-ref', ref('tag'), hash(bench, remote, 'tag', tag))
  bench.git(remote, 'update-ref', ref('tree'), hash(bench, remote, 'tree', ''))
  bench.git(remote, 'symbolic-ref', ref('link'), ref('good'))
  put(remote, ref('loop'), `ref: ${ref('pool')}\n`)
  put(remote, ref('pool'), `ref: ${ref('loop')}\n`)
  put(remote, 'refs/oneshot/demo-far/zero', `${'0'.repeat(40)}\n`)
  put(remote, 'refs/oneshot/demo-far/gone', `${'1'.repeat(40)}\n`)
  bench.git(remote, 'update-ref', 'refs/tags/v1', good)
  bench.git(clone, 'update-ref', 'refs/tags/v1', 'HEAD')
  bench.git(clone, 'config', 'remote.origin.url', remote)
  bench.git(clone, 'config', 'remote.origin.fetch', '+refs/*:refs/*')
  bench.git(clone, 'config', 'remote.origin.mirror', 'true')
  bench.git(clone, 'config', 'fetch.prune', 'true')
  const refs = (): string => bench.git(clone, 'for-each-ref')
  const before = refs()
  const checkpoints = bench.checkpoints()
  const fetched = await checkpoints.fetch(clone, { remote: 'origin', env: env(bench) }, all => all, NEVER)
  expect(fetched.taken.map(one => one.ref)).toEqual([ref('good')])
  expect(
    refs()
      .split('\n')
      .filter(line => !before.includes(line)),
  ).toEqual([`${good} commit\t${ref('good')}`])
  expect(refs().split('\n')).toEqual(expect.arrayContaining(before.split('\n')))
  await checkpoints.putBack(clone, fetched)
  expect(refs()).toBe(before)
})

test('ten thousand refs are read at once, and only what was asked for is fetched', async () => {
  const { bench, remote, clone } = begin()
  const good = forge(bench, remote, { ref: 'refs/oneshot/demo-far/good', message: messageWith({ Session: 'good' }) })
  const lines = Array.from({ length: 10_000 }, (_, at) => `${good} refs/oneshot/demo-far/x${at}\n`)
  put(remote, 'packed-refs', `# pack-refs with: peeled fully-peeled sorted \n${lines.toSorted().join('')}`)
  const checkpoints = bench.checkpoints()
  const wanted = await checkpoints.fetch(
    clone,
    { remote, env: env(bench) },
    all => all.filter(({ sessionId }) => sessionId === 'good'),
    NEVER,
  )
  expect(wanted.taken).toHaveLength(1)
  await checkpoints.fetch(clone, { remote, env: env(bench) }, all => all, NEVER)
  expect(bench.git(clone, 'for-each-ref', '--format=%(refname)', 'refs/oneshot')).toBe('refs/oneshot/demo-far/good\n')
  expect(await saved(checkpoints.save(bench.keeping(clone), occasion(), NEVER))).toMatchObject({ number: 1 })
})

test('a remote with more refs than can be read is refused in a sentence', async () => {
  const { bench, remote, clone } = begin()
  const good = forge(bench, remote, { ref: 'refs/oneshot/demo-far/good', message: messageWith({ Session: 'good' }) })
  const name = 'n'.repeat(200)
  const lines = Array.from(
    { length: 70_000 },
    (_, at) => `${good} refs/oneshot/${name}/${String(at).padStart(6, '0')}\n`,
  )
  fs.writeFileSync(path.join(remote, 'packed-refs'), `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`)
  const fetched = bench.checkpoints().fetch(clone, { remote, env: env(bench) }, all => all, NEVER)
  await expect(fetched).rejects.toMatchObject({
    message: expect.stringContaining('it has more refs than can be read'),
    mayHelpToRetry: false,
  })
})
