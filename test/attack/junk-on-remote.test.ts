import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Keeping } from '../../src/ports/checkpoints.ts'
import type { GitCheckpoints } from '../../src/world/git/git-checkpoints.ts'
import { GitFailed } from '../../src/world/git/git-failed.ts'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from '../contracts/git-bench.ts'
import { forge, hash, messageWith, treeOf } from './forge.ts'

const env = (bench: GitBench): Record<string, string> => bench.env as Record<string, string>

interface Scene {
  readonly bench: GitBench
  readonly repo: string
  readonly remote: string
  readonly keeping: Keeping
  readonly checkpoints: GitCheckpoints
  readonly ref: string
  /** Saves something, and pushes it. */
  readonly pushNext: () => Promise<string | null>
  readonly refsThere: () => string[]
}

/** A session that is pushed to a remote to which anybody can write. */
async function begin(): Promise<Scene> {
  const bench = openGitBench()
  const remote = bench.repository('remote.git', '--bare')
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  bench.git(repo, 'add', '.')
  bench.git(repo, 'commit', '--quiet', '--message', 'first')
  bench.git(repo, 'remote', 'add', 'origin', remote)
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  let number = 0
  const pushNext = async (): Promise<string | null> => {
    put(repo, 'a.txt', `${++number}\n`)
    await saved(checkpoints.save(keeping, occasion(), NEVER))
    return checkpoints.push(keeping, 'origin', env(bench), NEVER)
  }
  const refsThere = (): string[] =>
    bench.git(remote, 'for-each-ref', '--format=%(refname)', 'refs/oneshot').split('\n').slice(0, -1)
  const ref = `refs/oneshot/demo-work/${keeping.sessionId}`
  return { bench, repo, remote, keeping, checkpoints, ref, pushNext, refsThere }
}

type Put = (scene: Scene) => void
const JUNK: Readonly<Record<string, { put: Put; at: (ref: string) => string }>> = {
  'a ref below that of the session': {
    at: ref => `${ref}/junk`,
    put: ({ bench, remote, ref }) => {
      bench.git(remote, 'update-ref', '-d', ref)
      forge(bench, remote, { ref: `${ref}/junk`, message: 'junk' })
    },
  },
  'a ref called like the folder of the session': {
    at: () => 'refs/oneshot/demo-work',
    put: ({ bench, remote, ref }) => {
      bench.git(remote, 'update-ref', '-d', ref)
      forge(bench, remote, { ref: 'refs/oneshot/demo-work', message: 'junk' })
    },
  },
  'a file': {
    at: ref => ref,
    put: ({ bench, remote, ref }) => void bench.git(remote, 'update-ref', ref, hash(bench, remote, 'blob', 'x')),
  },
  'a commit with a message of 2 MB': {
    at: ref => ref,
    put: ({ bench, remote, keeping, ref }) =>
      void forge(bench, remote, {
        ref,
        message: messageWith({ Session: keeping.sessionId, Claim: '2 thief host' }, '', 'x'.repeat(2_000_000)),
      }),
  },
  'the claim on another session': {
    at: ref => ref,
    put: ({ bench, remote, ref }) =>
      void forge(bench, remote, { ref, message: messageWith({ Session: 'other', Claim: '2 thief host' }) }),
  },
  'a tag': {
    at: ref => ref,
    put: ({ bench, remote, ref }) => {
      const commit = forge(bench, remote, { ref: 'refs/heads/x', message: 'junk' })
      const tag = `object ${commit}\ntype commit\ntag x\ntagger o <o@o> 1767225600 +0000\n\nx\n`
      bench.git(remote, 'update-ref', ref, hash(bench, remote, 'tag', tag))
    },
  },
}

test.each(Object.entries(JUNK))(
  '%s in the place of a session that lives here does not stop its pushes',
  async (_, junk) => {
    const scene = await begin()
    const { bench, repo, remote, ref, keeping } = scene
    expect(await scene.pushNext()).toBeNull()
    junk.put(scene)
    const there = bench.git(remote, 'rev-parse', junk.at(ref)).trim()
    const note = await scene.pushNext()
    expect(note).toContain(`${junk.at(ref)} on origin belongs to no session and is in the way`)
    const [, as = ''] = /pushed as (refs\/oneshot\/demo-work-[0-9a-f]{4}\/\w+);/.exec(note ?? '') ?? []
    expect(scene.refsThere()).toEqual(expect.arrayContaining([as, junk.at(ref)]))
    expect(() => bench.git(repo, 'cat-file', '-e', there), 'nothing of it came here').toThrow()
    expect(await scene.pushNext(), 'told once').toBeNull()
    expect(bench.git(remote, 'rev-parse', as)).toBe(bench.git(repo, 'rev-parse', ref))

    const clone = path.join(bench.root, 'clone')
    bench.git(bench.root, 'clone', '--quiet', repo, clone)
    const other = bench.checkpoints({ folderOf: id => path.join(bench.root, 'other', id) })
    const { taken } = await other.fetch(clone, { remote, env: env(bench) }, all => all, NEVER)
    expect(taken.map(one => one.ref)).toEqual([as])
    expect(await other.find(clone)).toMatchObject([{ sessionId: keeping.sessionId, last: { number: 3 } }])
  },
)

test('junk below one session is in the way of no other one', async () => {
  const scene = await begin()
  const { bench, remote, checkpoints, repo } = scene
  const other = bench.keeping(repo)
  await saved(checkpoints.save(other, occasion(), NEVER))
  forge(bench, remote, { ref: `${scene.ref}/junk`, message: 'junk' })
  forge(bench, remote, { ref: `refs/oneshot/demo-work/${other.sessionId}0`, message: 'junk' })
  forge(bench, remote, { ref: `refs/oneshot/demo-work/${other.sessionId}+junk`, message: 'junk' })
  forge(bench, remote, { ref: 'refs/oneshot/demo-file', message: 'junk' })
  expect(await checkpoints.push(other, 'origin', env(bench), NEVER)).toBeNull()
  expect(scene.refsThere()).toContain(`refs/oneshot/demo-work/${other.sessionId}`)
})

test('a ref in the place of the folder of all sessions is named, with the command that removes it', async () => {
  const scene = await begin()
  forge(scene.bench, scene.remote, { ref: 'refs/oneshot', message: 'junk' })
  await expect(scene.pushNext()).rejects.toMatchObject({
    message: expect.stringMatching(
      /^pushing to origin: refs\/oneshot on origin .* git push origin --delete refs\/oneshot$/,
    ),
    mayHelpToRetry: false,
  })
})

test('a remote that sends megabytes in one line holds nobody up', async () => {
  const { bench, checkpoints, keeping, repo } = await begin()
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  const script = path.join(bench.root, 'ssh')
  put(bench.root, 'ssh', '#!/bin/sh\nhead -c 20000000 /dev/zero | tr "\\0" a >&2\nexit 255\n', 0o755)
  const begun = performance.now()
  const reach = { ...env(bench), GIT_SSH_COMMAND: script }
  await expect(checkpoints.push(keeping, 'ssh://host.invalid/x', reach, NEVER)).rejects.toMatchObject({
    message: expect.stringMatching(/^pushing to the remote: a{300}$/),
  })
  expect(performance.now() - begun).toBeLessThan(10_000) // By the square of what is kept it would take hours.
  expect(fs.existsSync(repo)).toBe(true)
})

test.each(['a', '://', 'a:', 'http://', '://a:', '@', ' ', '\n'])('an error that repeats %j takes no time', word => {
  const begun = performance.now()
  const { message } = new GitFailed('push', { code: 1, stderr: word.repeat(2_000_000 / word.length) })
  expect(message.length).toBeLessThanOrEqual(300)
  expect(performance.now() - begun).toBeLessThan(2_000)
})

test('an error shows no password, whatever stands in it', () => {
  const said = (stderr: string): string => new GitFailed('push', { code: 1, stderr }).message
  expect(said("fatal: unable to access 'https://me:p@ss:w0rd@host/x/': no")).toBe(
    "unable to access 'https://‹hidden›@host/x/': no",
  )
  expect(said('fatal: https://ghp_1234@host and SSH://me:pw@host')).toBe(
    'https://‹hidden›@host and SSH://‹hidden›@host',
  )
  expect(said('fatal: ssh://git@host/x')).toBe('ssh://git@host/x')
})

test('a chain of fat messages is read only so far, and the newest checkpoints are there', async () => {
  const { bench, repo, checkpoints, keeping, ref } = await begin()
  const fat = 'x'.repeat(480_000)
  const commits = Array.from({ length: 160 }, (_, at) => {
    const message = messageWith({ Session: keeping.sessionId, Checkpoint: `${at + 1}` }, '', `"${at}${fat}"`)
    return `commit ${ref}\ncommitter o <o@o> 1767225600 +0000\ndata ${Buffer.byteLength(message)}\n${message}\n`
  })
  put(bench.root, 'import', `feature done\n${commits.join('')}done\n`)
  bench.git(repo, '-c', `alias.import=!git fast-import --quiet < ${bench.root}/import`, 'import')
  const all = await checkpoints.list(keeping)
  expect(all.length).toBeLessThan(150)
  expect(all.at(-1)?.number).toBe(160)
})

test('a checkpoint that names more repositories than any tree has is read only so far', async () => {
  const { bench, repo, checkpoints, keeping, ref } = await begin()
  const lines = Array.from({ length: 6_000 }, (_, at) => `Oneshot-Nested: n${at} commit ${'a'.repeat(40)}\n`)
  forge(bench, repo, { ref, message: messageWith({ Session: keeping.sessionId }, lines.join('')) })
  const [last] = await checkpoints.list(keeping)
  if (last === undefined) throw new Error('it is not read')
  const unable = await checkpoints.restoreBeside(keeping, last, { branch: 'look', worktree: null })
  expect(unable).toHaveLength(2_000)
})

test('a tree that makes git fail is refused, and not taken for a small one', async () => {
  const { bench, repo, checkpoints, keeping, ref } = await begin()
  const broken = hash(bench, repo, 'tree', 'no tree at all')
  const id = treeOf(bench, repo, [{ mode: '40000', name: 'sub', id: broken }])
  forge(bench, repo, { ref, message: messageWith({ Session: keeping.sessionId }), tree: id })
  const [last] = await checkpoints.list(keeping)
  if (last === undefined) throw new Error('it is not read')
  await expect(checkpoints.compare(keeping, last)).rejects.toThrow('git cannot list its objects')
})

test('a session whose refs somebody has removed pushes nothing, least of all a branch', async () => {
  const { bench, repo, remote, checkpoints, keeping, ref } = await begin()
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  bench.git(repo, 'update-ref', '-d', ref)
  bench.git(repo, 'config', '--global', 'push.default', 'matching')
  bench.git(remote, 'fetch', '--quiet', repo, 'main:main')
  put(repo, 'a.txt', 'not to be published\n')
  bench.git(repo, 'commit', '--quiet', '--all', '--message', 'private')
  const before = bench.git(remote, 'for-each-ref')
  await checkpoints.push(keeping, 'origin', env(bench), NEVER)
  expect(bench.git(remote, 'for-each-ref')).toBe(before)
})
