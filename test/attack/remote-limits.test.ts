import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { randomBytes, SEED, seededRandom } from '../../testkit/system/seeded-random.ts'
import {
  type GitFixture,
  NEVER,
  makeCheckpointRequest,
  openGitFixture,
  put,
  savedCheckpoint,
} from '../contracts/git-fixture.ts'

function begin(): { bench: GitFixture; repo: string; remote: string } {
  const fixture = openGitFixture()
  const remote = fixture.repository('remote.git', '--bare')
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '--all')
  fixture.git(repo, 'commit', '--quiet', '--message', 'begin')
  return { bench: fixture, repo, remote }
}

test('a fetch stops when a remote sends more than the limit, and keeps nothing of it', async () => {
  const { bench: fixture, repo, remote } = begin()
  fixture.git(repo, 'remote', 'add', 'origin', remote)
  const checkpoints = fixture.checkpoints({ maxFetchSize: 100_000 })
  const [small, large] = [fixture.checkpointTarget(repo), { ...fixture.checkpointTarget(repo), name: 'demo-large' }]
  await savedCheckpoint(checkpoints.save(small, makeCheckpointRequest(), NEVER))
  await checkpoints.push(small, 'origin', {}, NEVER)
  put(repo, 'large.bin', randomBytes(seededRandom(SEED, 'remote-limits'), 300_000))
  await savedCheckpoint(checkpoints.save(large, makeCheckpointRequest(), NEVER))
  await checkpoints.push(large, 'origin', {}, NEVER)
  const clone = path.join(fixture.root, 'clone')
  fixture.git(fixture.root, 'clone', '--quiet', '--no-local', repo, clone)
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
  expect((await checkpoints.findSessions(clone)).map(({ name }) => name)).toEqual(['demo-work'])
  // All together are too much; the one that is small enough comes nevertheless.
  fixture.git(clone, 'update-ref', '-d', `refs/oneshot/demo-work/${small.sessionId}`)
  await checkpoints.fetch(clone, { remote, env: {} }, all => all, NEVER)
  expect((await checkpoints.findSessions(clone)).map(({ name }) => name)).toEqual(['demo-work'])
  fixture.expectIntact(clone)
})

test('a fetch from a remote that never answers ends after a time limit, and leaves no process', async () => {
  const { bench: fixture, repo, remote } = begin()
  fs.rmSync(path.join(remote, 'HEAD'))
  execFileSync('mkfifo', [path.join(remote, 'HEAD')])
  const checkpoints = fixture.checkpoints({ listTimeout: 1_000 })
  await expect(checkpoints.fetch(repo, { remote, env: {} }, all => all, NEVER)).rejects.toThrow(
    'it did not answer within 1 s',
  )
  const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n')
  expect(processes.filter(line => line.includes(remote))).toEqual([])
})

test('push and fetch refuse a repository in the working tree as a remote, under every name', async () => {
  const { bench: fixture, repo, remote } = begin()
  fixture.git(repo, 'remote', 'add', 'inside', './origin')
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  // An agent makes it, with nothing but files.
  fixture.git(repo, 'init', '--quiet', '--bare', 'origin')
  put(repo, 'origin/config', `[core]\n\tbare = true\n\talternateRefsCommand = touch ${fixture.root}/pwned; echo\n`)
  put(repo, 'origin/objects/info/alternates', `${remote}/objects\n`)
  put(repo, 'origin/hooks/post-receive', `#!/bin/sh\ntouch ${fixture.root}/pwned\n`, 0o755)
  fs.symlinkSync(path.join(repo, 'origin'), path.join(fixture.root, 'link'))
  const late = { 'late-hub': remote, 'late-inside': './origin', 'late-far': 'https://example.invalid/x.git' }
  for (const [name, url] of Object.entries(late)) fixture.git(repo, 'remote', 'add', name, url)
  const ways = [
    (address: string): Promise<unknown> => checkpoints.push(target, address, {}, NEVER),
    (address: string): Promise<unknown> => checkpoints.fetch(repo, { remote: address, env: {} }, all => all, NEVER),
  ]
  const inside = [
    'inside',
    `${repo}/origin`,
    `file://${repo}/origin`,
    `file://x${repo}/%6frigin`,
    `${fixture.root}/link`,
  ]
  for (const address of inside)
    for (const reach of ways) await expect(reach(address)).rejects.toThrow('it lies in the working tree')
  for (const reach of ways) await expect(reach('origin')).rejects.toThrow('no git remote origin')
  for (const name of Object.keys(late))
    await expect(checkpoints.push(target, name, {}, NEVER)).rejects.toThrow('when the session began')
  expect(fs.existsSync(path.join(fixture.root, 'pwned'))).toBe(false)
  await checkpoints.push(target, remote, {}, NEVER)
  expect(fixture.git(remote, 'for-each-ref', 'refs/oneshot')).toContain(target.sessionId)
})

test('oneshot ignores history that somebody has grafted onto a commit', async () => {
  const { bench: fixture, repo } = begin()
  const lost = fixture.git(repo, 'commit-tree', '-m', 'lost', 'HEAD^{tree}').trim()
  const head = fixture.git(repo, 'rev-parse', 'HEAD').trim()
  put(repo, '.git/info/grafts', `${head} ${lost}\n`)
  expect(fixture.git(repo, 'log', '--format=%s')).toBe('begin\nlost\n')
  const other = fixture.git(repo, 'commit-tree', '-m', 'other', 'HEAD^{tree}').trim()
  expect(await fixture.checkpoints().commitSubjects(repo, other, 10)).toEqual([`${head.slice(0, 7)} begin`])
})
