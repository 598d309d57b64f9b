import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { CheckpointTarget } from '../../src/ports/checkpoints.ts'
import type { GitCheckpoints } from '../../src/world/git/checkpoint/git-checkpoints.ts'
import { GitError } from '../../src/world/git/git-error.ts'
import {
  type GitFixture,
  NEVER,
  makeCheckpointRequest,
  openGitFixture,
  put,
  savedCheckpoint,
} from '../contracts/git-fixture.ts'
import { forgeCheckpoint, writeObject, checkpointMessage, writeTree } from './forge-checkpoint.ts'

const env = (fixture: GitFixture): Record<string, string> => fixture.env as Record<string, string>

interface Scene {
  readonly bench: GitFixture
  readonly repo: string
  readonly remote: string
  readonly keeping: CheckpointTarget
  readonly checkpoints: GitCheckpoints
  readonly ref: string
  /** Saves something, and pushes it. */
  readonly pushNext: () => Promise<string | null>
  readonly refsThere: () => string[]
}

/** A session that is pushed to a remote to which anybody can write. */
async function begin(): Promise<Scene> {
  const fixture = openGitFixture()
  const remote = fixture.repository('remote.git', '--bare')
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  fixture.git(repo, 'remote', 'add', 'origin', remote)
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  let number = 0
  const pushNext = async (): Promise<string | null> => {
    put(repo, 'a.txt', `${++number}\n`)
    await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
    return checkpoints.push(target, 'origin', env(fixture), NEVER)
  }
  const refsThere = (): string[] =>
    fixture.git(remote, 'for-each-ref', '--format=%(refname)', 'refs/oneshot').split('\n').slice(0, -1)
  const ref = `refs/oneshot/demo-work/${target.sessionId}`
  return { bench: fixture, repo, remote, keeping: target, checkpoints, ref, pushNext, refsThere }
}

type Put = (scene: Scene) => void
const JUNK: Readonly<Record<string, { put: Put; at: (ref: string) => string }>> = {
  'a ref below that of the session': {
    at: ref => `${ref}/junk`,
    put: ({ bench: fixture, remote, ref }) => {
      fixture.git(remote, 'update-ref', '-d', ref)
      forgeCheckpoint(fixture, remote, { ref: `${ref}/junk`, message: 'junk' })
    },
  },
  'a ref called like the folder of the session': {
    at: () => 'refs/oneshot/demo-work',
    put: ({ bench: fixture, remote, ref }) => {
      fixture.git(remote, 'update-ref', '-d', ref)
      forgeCheckpoint(fixture, remote, { ref: 'refs/oneshot/demo-work', message: 'junk' })
    },
  },
  'a file': {
    at: ref => ref,
    put: ({ bench: fixture, remote, ref }) =>
      void fixture.git(remote, 'update-ref', ref, writeObject(fixture, remote, 'blob', 'x')),
  },
  'a commit with a message of 2 MB': {
    at: ref => ref,
    put: ({ bench: fixture, remote, keeping: target, ref }) =>
      void forgeCheckpoint(fixture, remote, {
        ref,
        message: checkpointMessage({ Session: target.sessionId, Claim: '2 thief host' }, '', 'x'.repeat(2_000_000)),
      }),
  },
  'the claim on another session': {
    at: ref => ref,
    put: ({ bench: fixture, remote, ref }) =>
      void forgeCheckpoint(fixture, remote, {
        ref,
        message: checkpointMessage({ Session: 'other', Claim: '2 thief host' }),
      }),
  },
  'a tag': {
    at: ref => ref,
    put: ({ bench: fixture, remote, ref }) => {
      const commit = forgeCheckpoint(fixture, remote, { ref: 'refs/heads/x', message: 'junk' })
      const tag = `object ${commit}\ntype commit\ntag x\ntagger o <o@o> 1767225600 +0000\n\nx\n`
      fixture.git(remote, 'update-ref', ref, writeObject(fixture, remote, 'tag', tag))
    },
  },
}

test.each(Object.entries(JUNK))(
  '%s in the place of a session’s ref on the remote does not stop the session’s pushes',
  async (_, junk) => {
    const scene = await begin()
    const { bench: fixture, repo, remote, ref, keeping: target } = scene
    expect(await scene.pushNext()).toBeNull()
    junk.put(scene)
    const there = fixture.git(remote, 'rev-parse', junk.at(ref)).trim()
    const note = await scene.pushNext()
    expect(note).toContain(`${junk.at(ref)} on origin belongs to no session and is in the way`)
    const [, as = ''] = /pushed as (refs\/oneshot\/demo-work-[0-9a-f]{4}\/\w+);/.exec(note ?? '') ?? []
    expect(scene.refsThere()).toEqual(expect.arrayContaining([as, junk.at(ref)]))
    expect(() => fixture.git(repo, 'cat-file', '-e', there), 'nothing of it came here').toThrow()
    expect(await scene.pushNext(), 'told once').toBeNull()
    expect(fixture.git(remote, 'rev-parse', as)).toBe(fixture.git(repo, 'rev-parse', ref))

    const clone = path.join(fixture.root, 'clone')
    fixture.git(fixture.root, 'clone', '--quiet', repo, clone)
    const other = fixture.checkpoints({ folderOf: id => path.join(fixture.root, 'other', id) })
    const { taken } = await other.fetch(clone, { remote, env: env(fixture) }, all => all, NEVER)
    expect(taken.map(one => one.ref)).toEqual([as])
    expect(await other.findSessions(clone)).toMatchObject([{ sessionId: target.sessionId, last: { number: 3 } }])
  },
)

test('junk refs below one session do not stop the pushes of another session', async () => {
  const scene = await begin()
  const { bench: fixture, remote, checkpoints, repo } = scene
  const other = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(other, makeCheckpointRequest(), NEVER))
  forgeCheckpoint(fixture, remote, { ref: `${scene.ref}/junk`, message: 'junk' })
  forgeCheckpoint(fixture, remote, { ref: `refs/oneshot/demo-work/${other.sessionId}0`, message: 'junk' })
  forgeCheckpoint(fixture, remote, { ref: `refs/oneshot/demo-work/${other.sessionId}+junk`, message: 'junk' })
  forgeCheckpoint(fixture, remote, { ref: 'refs/oneshot/demo-file', message: 'junk' })
  expect(await checkpoints.push(other, 'origin', env(fixture), NEVER)).toBeNull()
  expect(scene.refsThere()).toContain(`refs/oneshot/demo-work/${other.sessionId}`)
})

test('a push names a ref in the place of refs/oneshot and the command that removes it', async () => {
  const scene = await begin()
  forgeCheckpoint(scene.bench, scene.remote, { ref: 'refs/oneshot', message: 'junk' })
  await expect(scene.pushNext()).rejects.toMatchObject({
    message: expect.stringMatching(
      /^pushing to origin: refs\/oneshot on origin .* git push origin --delete refs\/oneshot$/,
    ),
    mayHelpToRetry: false,
  })
})

test('a remote that sends megabytes in one line does not delay a push', async () => {
  const { bench: fixture, checkpoints, keeping: target, repo } = await begin()
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const script = path.join(fixture.root, 'ssh')
  put(fixture.root, 'ssh', '#!/bin/sh\nhead -c 20000000 /dev/zero | tr "\\0" a >&2\nexit 255\n', 0o755)
  const begun = performance.now()
  const reach = { ...env(fixture), GIT_SSH_COMMAND: script }
  await expect(checkpoints.push(target, 'ssh://host.invalid/x', reach, NEVER)).rejects.toMatchObject({
    message: expect.stringMatching(/^pushing to the remote: a{300}$/),
  })
  expect(performance.now() - begun).toBeLessThan(10_000) // By the square of what is kept it would take hours.
  expect(fs.existsSync(repo)).toBe(true)
})

test.each(['a', '://', 'a:', 'http://', '://a:', '@', ' ', '\n'])(
  'GitError shortens an error that repeats %j at once',
  word => {
    const begun = performance.now()
    const { message } = new GitError('push', { code: 1, stderr: word.repeat(2_000_000 / word.length) })
    expect(message.length).toBeLessThanOrEqual(300)
    expect(performance.now() - begun).toBeLessThan(2_000)
  },
)

test('GitError shows no password of an address in an error', () => {
  const said = (stderr: string): string => new GitError('push', { code: 1, stderr }).message
  expect(said("fatal: unable to access 'https://me:p@ss:w0rd@host/x/': no")).toBe(
    "unable to access 'https://‹hidden›@host/x/': no",
  )
  expect(said('fatal: https://ghp_1234@host and SSH://me:pw@host')).toBe(
    'https://‹hidden›@host and SSH://‹hidden›@host',
  )
  expect(said('fatal: ssh://git@host/x')).toBe('ssh://git@host/x')
})

test('oneshot reads only a part of a chain of huge checkpoint messages, beginning with the newest', async () => {
  const { bench: fixture, repo, checkpoints, keeping: target, ref } = await begin()
  const fat = 'x'.repeat(480_000)
  const commits = Array.from({ length: 160 }, (_, at) => {
    const message = checkpointMessage({ Session: target.sessionId, Checkpoint: `${at + 1}` }, '', `"${at}${fat}"`)
    return `commit ${ref}\ncommitter o <o@o> 1767225600 +0000\ndata ${Buffer.byteLength(message)}\n${message}\n`
  })
  put(fixture.root, 'import', `feature done\n${commits.join('')}done\n`)
  fixture.git(repo, '-c', `alias.import=!git fast-import --quiet < ${fixture.root}/import`, 'import')
  const all = await checkpoints.list(target)
  expect(all.length).toBeLessThan(150)
  expect(all.at(-1)?.number).toBe(160)
})

test('oneshot reads only the first 2,000 nested repositories that a checkpoint names', async () => {
  const { bench: fixture, repo, checkpoints, keeping: target, ref } = await begin()
  const lines = Array.from({ length: 6_000 }, (_, at) => `Oneshot-Nested: n${at} commit ${'a'.repeat(40)}\n`)
  forgeCheckpoint(fixture, repo, { ref, message: checkpointMessage({ Session: target.sessionId }, lines.join('')) })
  const [last] = await checkpoints.list(target)
  if (last === undefined) throw new Error('it is not read')
  const unable = await checkpoints.restoreToBranch(target, last, { branch: 'look', worktree: null })
  expect(unable).toHaveLength(2_000)
})

test('oneshot refuses a tree that makes git fail and does not mistake it for a small one', async () => {
  const { bench: fixture, repo, checkpoints, keeping: target, ref } = await begin()
  const broken = writeObject(fixture, repo, 'tree', 'no tree at all')
  const id = writeTree(fixture, repo, [{ mode: '40000', name: 'sub', id: broken }])
  forgeCheckpoint(fixture, repo, { ref, message: checkpointMessage({ Session: target.sessionId }), tree: id })
  const [last] = await checkpoints.list(target)
  if (last === undefined) throw new Error('it is not read')
  await expect(checkpoints.compareWorktree(target, last)).rejects.toThrow('git cannot list its objects')
})

test('a session whose refs somebody has removed pushes nothing, not even a branch', async () => {
  const { bench: fixture, repo, remote, checkpoints, keeping: target, ref } = await begin()
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  fixture.git(repo, 'update-ref', '-d', ref)
  fixture.git(repo, 'config', '--global', 'push.default', 'matching')
  fixture.git(remote, 'fetch', '--quiet', repo, 'main:main')
  put(repo, 'a.txt', 'not to be published\n')
  fixture.git(repo, 'commit', '--quiet', '--all', '--message', 'private')
  const before = fixture.git(remote, 'for-each-ref')
  await checkpoints.push(target, 'origin', env(fixture), NEVER)
  expect(fixture.git(remote, 'for-each-ref')).toBe(before)
})
