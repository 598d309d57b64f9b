import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from '../contracts/git-bench.ts'

function begin(): { bench: GitBench; repo: string; remote: string } {
  const bench = openGitBench()
  const remote = bench.repository('remote.git', '--bare')
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  bench.git(repo, 'add', '--all')
  bench.git(repo, 'commit', '--quiet', '--message', 'begin')
  return { bench, repo, remote }
}

test('a remote that sends more than there is room for is left, and nothing of it stays', async () => {
  const { bench, repo, remote } = begin()
  bench.git(repo, 'remote', 'add', 'origin', remote)
  const checkpoints = bench.checkpoints({ mostFetched: 100_000 })
  const [small, large] = [bench.keeping(repo), { ...bench.keeping(repo), name: 'demo-large' }]
  await saved(checkpoints.save(small, occasion(), NEVER))
  await checkpoints.push(small, 'origin', {}, NEVER)
  put(repo, 'large.bin', crypto.randomBytes(300_000))
  await saved(checkpoints.save(large, occasion(), NEVER))
  await checkpoints.push(large, 'origin', {}, NEVER)
  const clone = path.join(bench.root, 'clone')
  bench.git(bench.root, 'clone', '--quiet', '--no-local', repo, clone)
  const objects = (): string[] => fs.readdirSync(path.join(clone, '.git/objects/pack'))
  const before = objects()
  const fetch = (name: string): Promise<unknown> =>
    checkpoints.fetch(clone, { remote, env: {} }, all => all.filter(one => one.name === name), NEVER)
  await expect(fetch('demo-large')).rejects.toMatchObject({
    message: expect.stringMatching(/^fetching from .*: it sends more than \d+ KB$/),
    mayHelpToRetry: false,
  })
  expect(objects()).toEqual(before)
  await fetch('demo-work')
  expect((await checkpoints.find(clone)).map(({ name }) => name)).toEqual(['demo-work'])
  // All together are too much; the one that is small enough comes nevertheless.
  bench.git(clone, 'update-ref', '-d', `refs/oneshot/demo-work/${small.sessionId}`)
  await checkpoints.fetch(clone, { remote, env: {} }, all => all, NEVER)
  expect((await checkpoints.find(clone)).map(({ name }) => name)).toEqual(['demo-work'])
  bench.expectSound(clone)
})

test('a repository that somebody has put into the working tree is no remote, under no name', async () => {
  const { bench, repo, remote } = begin()
  bench.git(repo, 'remote', 'add', 'inside', './origin')
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  // An agent makes it, with nothing but files.
  bench.git(repo, 'init', '--quiet', '--bare', 'origin')
  put(repo, 'origin/config', `[core]\n\tbare = true\n\talternateRefsCommand = touch ${bench.root}/pwned; echo\n`)
  put(repo, 'origin/objects/info/alternates', `${remote}/objects\n`)
  put(repo, 'origin/hooks/post-receive', `#!/bin/sh\ntouch ${bench.root}/pwned\n`, 0o755)
  fs.symlinkSync(path.join(repo, 'origin'), path.join(bench.root, 'link'))
  const late = { 'late-hub': remote, 'late-inside': './origin', 'late-far': 'https://example.invalid/x.git' }
  for (const [name, url] of Object.entries(late)) bench.git(repo, 'remote', 'add', name, url)
  const ways = [
    (address: string): Promise<unknown> => checkpoints.push(keeping, address, {}, NEVER),
    (address: string): Promise<unknown> => checkpoints.fetch(repo, { remote: address, env: {} }, all => all, NEVER),
  ]
  const inside = ['inside', `${repo}/origin`, `file://${repo}/origin`, `file://x${repo}/%6frigin`, `${bench.root}/link`]
  for (const address of inside)
    for (const reach of ways) await expect(reach(address)).rejects.toThrow('it lies in the working tree')
  for (const reach of ways) await expect(reach('origin')).rejects.toThrow('no git remote origin')
  for (const name of Object.keys(late))
    await expect(checkpoints.push(keeping, name, {}, NEVER)).rejects.toThrow('when the session began')
  expect(fs.existsSync(path.join(bench.root, 'pwned'))).toBe(false)
  await checkpoints.push(keeping, remote, {}, NEVER)
  expect(bench.git(remote, 'for-each-ref', 'refs/oneshot')).toContain(keeping.sessionId)
})

test('history that somebody has grafted onto a commit is not taken for its own', async () => {
  const { bench, repo } = begin()
  const lost = bench.git(repo, 'commit-tree', '-m', 'lost', 'HEAD^{tree}').trim()
  const head = bench.git(repo, 'rev-parse', 'HEAD').trim()
  put(repo, '.git/info/grafts', `${head} ${lost}\n`)
  expect(bench.git(repo, 'log', '--format=%s')).toBe('begin\nlost\n')
  const other = bench.git(repo, 'commit-tree', '-m', 'other', 'HEAD^{tree}').trim()
  expect(await bench.checkpoints().commits(repo, other, 10)).toEqual([`${head.slice(0, 7)} begin`])
})
