import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Checkpoint } from '../../src/core/checkpoint/checkpoint.ts'
import type { CheckpointTarget } from '../../src/ports/checkpoints.ts'
import type { GitCheckpoints } from '../../src/world/git/checkpoint/git-checkpoints.ts'
import { forCases } from '../../testkit/vitest/for-cases.ts'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'
import { readTree, readUserState } from './read-tree.ts'

interface Story {
  readonly bench: GitFixture
  readonly repo: string
  readonly checkpoints: GitCheckpoints
  readonly keeping: CheckpointTarget
  /** With `a.txt`, `data` and `d/e.txt`. */
  readonly first: Checkpoint
  /** Without `data` and `d`, and with `.gitignore` that ignores both. */
  readonly over: Checkpoint
}

async function begin(): Promise<Story> {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  put(repo, 'a.txt', 'a\n')
  put(repo, 'data', 'data\n')
  put(repo, 'd/e.txt', 'e\n')
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  for (const name of ['data', 'd']) fs.rmSync(path.join(repo, name), { recursive: true })
  put(repo, 'a.txt', 'b\n')
  put(repo, '.gitignore', 'data\nd\n')
  return {
    bench: fixture,
    repo,
    checkpoints,
    keeping: target,
    first,
    over: await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER)),
  }
}

const LOSSES: Readonly<Record<string, { put: (repo: string) => void; says: string }>> = {
  'an ignored file in the way': { put: repo => put(repo, 'data', 'precious'), says: 'data would be lost' },
  'ignored files in a folder in the way': {
    put: repo => {
      put(repo, 'data/one', 'precious')
      put(repo, 'data/two/three', 'precious')
    },
    says: 'data/one and 1 more would be lost',
  },
  'an ignored file where a folder was': {
    put: repo => put(repo, 'd', 'precious'),
    says: 'd would be lost',
  },
  'a file that was changed since': { put: repo => put(repo, 'a.txt', 'changed'), says: 'files were changed meanwhile' },
  'a new file': { put: repo => put(repo, 'new.txt', 'new'), says: 'files were changed meanwhile' },
}

test.each(Object.entries(LOSSES))('restore refuses and touches nothing: %s', async (_, loss) => {
  const { repo, checkpoints, keeping, first, over } = await begin()
  loss.put(repo)
  const before = [readTree(repo), readUserState(repo)]
  await expect(checkpoints.restoreInPlace(keeping, first, over)).rejects.toThrow(loss.says)
  expect([readTree(repo), readUserState(repo)]).toEqual(before)
})

test('restore keeps ignored files that are in no one’s way', async () => {
  const { repo, checkpoints, keeping, first, over } = await begin()
  put(repo, 'd/own.txt', 'mine')
  expect(await checkpoints.restoreInPlace(keeping, first, over)).toEqual([])
  expect([...readTree(repo)]).toEqual([
    ['a.txt', 'file a\n'],
    ['d/e.txt', 'file e\n'],
    ['d/own.txt', 'file mine'],
    ['data', 'file data\n'],
  ])
  const third = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest({ trigger: 'restore' }), NEVER))
  expect(third.number, 'what was restored is the next checkpoint').toBe(3)
  expect(third.change.files).toBeGreaterThan(0)
})

test('restore refuses a branch or folder that exists, and leaves nothing behind', async () => {
  const { bench: fixture, repo, checkpoints, keeping, first, over } = await begin()
  await checkpoints.restoreToBranch(keeping, first, { branch: 'there', worktree: null })
  await checkpoints.restoreToBranch(keeping, over, { branch: 'taken', worktree: null })
  const refs = fixture.git(repo, 'for-each-ref')
  const folder = path.join(fixture.root, 'full')
  put(folder, 'file', '')
  for (const [branch, worktree, says] of [
    ['taken', null, 'the branch taken exists already'],
    ['free', folder, 'exists already'],
    ['free', '/proc/nowhere', 'nowhere'],
    ['no name..', null, '"no name.." is no name for a branch'],
    ['-x', null, '"-x" is no name for a branch'],
  ] as const) {
    await expect(checkpoints.restoreToBranch(keeping, first, { branch, worktree })).rejects.toThrow(says)
  }
  await checkpoints.restoreToBranch(keeping, first, { branch: 'there', worktree: null })
  expect(fixture.git(repo, 'for-each-ref')).toBe(refs)
  expect(fixture.git(repo, 'show', 'there:data')).toBe('data\n')
})

test('oneshot runs no hook of the repository', async () => {
  const { bench: fixture, repo, checkpoints, keeping, first, over } = await begin()
  const samples = fs.readdirSync(path.join(repo, '.git/hooks')).map(name => name.replace('.sample', ''))
  const more = [
    'reference-transaction',
    'post-checkout',
    'post-commit',
    'post-index-change',
    'post-rewrite',
    'pre-auto-gc',
  ]
  for (const hook of new Set([...samples, ...more])) {
    put(repo, `.git/hooks/${hook}`, `#!/bin/sh\necho ${hook} >> ${fixture.root}/ran\n`, 0o755)
  }
  const remote = fixture.repository('remote.git', '--bare')
  const env = fixture.env as Record<string, string>
  put(repo, 'a.txt', 'c\n')
  fixture.git(repo, '-c', 'core.hooksPath=/dev/null', 'add', 'a.txt')
  put(repo, 'a.txt', 'd\n')
  const third = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest({ isVisible: true }), NEVER))
  await checkpoints.list(keeping)
  await checkpoints.diff(keeping, first.commit, over.commit, { stat: false })
  await checkpoints.push(keeping, remote, env, NEVER)
  await checkpoints.fetch(repo, { remote, env }, all => all, NEVER)
  await checkpoints.restoreToBranch(keeping, first, { branch: 'b', worktree: path.join(fixture.root, 'beside') })
  await checkpoints.restoreInPlace(keeping, first, third)
  for (let n = 0; n < 30; n++) {
    put(repo, 'a.txt', `${n}\n`)
    await checkpoints.save(keeping, makeCheckpointRequest({ at: n }), NEVER)
  }
  expect(await checkpoints.prune(keeping, 100 * 86_400_000)).toBeGreaterThan(0)
  await checkpoints.removeAll(keeping)
  expect(fs.existsSync(path.join(fixture.root, 'ran'))).toBe(false)
})

forCases(
  ['sha1', 'sha256'],
  1,
  'shortenedFiles checkpoints, including nested ones, keep their numbers, records and contents: %s',
  async hash => {
    const fixture = openGitFixture()
    const repo = fixture.repository('repo', `--object-format=${hash}`)
    const nested = fixture.repository('repo/nested')
    const checkpoints = fixture.checkpoints()
    const keeping = { ...fixture.checkpointTarget(repo), nested: true }
    const trees = new Map<number, Map<string, string>>()
    for (let n = 1; n <= 40; n++) {
      put(n % 3 === 0 ? repo : nested, 'a.txt', `${n}\n`)
      if (n === 20) fixture.git(repo, 'commit', '--quiet', '--allow-empty', '--message', 'between')
      const at = n * 4 * 60_000
      const trigger = n === 8 ? ('error' as const) : ('edit' as const)
      const { number } = await savedCheckpoint(
        checkpoints.save(keeping, makeCheckpointRequest({ at, trigger, record: `{"n":${n}}` }), NEVER),
      )
      trees.set(number, readTree(repo))
    }
    const before = await checkpoints.list(keeping)
    const gone = await checkpoints.prune(keeping, 2 * 86_400_000)
    const after = await checkpoints.list(keeping)
    expect(after).toHaveLength(40 - gone)
    expect(after.map(({ number }) => number)).toEqual(expect.arrayContaining([1, 8, 40]))
    const withoutCommit = (one: Checkpoint): object => ({ ...one, commit: '' })
    const kept = new Set(after.map(({ number }) => number))
    expect(after.map(withoutCommit)).toEqual(before.filter(({ number }) => kept.has(number)).map(withoutCommit))
    fixture.git(repo, 'gc', '--quiet', '--prune=now')
    fixture.git(nested, 'gc', '--quiet', '--prune=now')
    for (const checkpoint of after) {
      expect(await checkpoints.readRecord(keeping, checkpoint.commit)).toBe(`{"n":${checkpoint.number}}`)
      const worktree = path.join(fixture.root, `w${checkpoint.number}`)
      expect(
        await checkpoints.restoreToBranch(keeping, checkpoint, { branch: `b${checkpoint.number}`, worktree }),
      ).toEqual([])
      expect(readTree(worktree)).toEqual(trees.get(checkpoint.number))
    }
    expect(await checkpoints.prune(keeping, 2 * 86_400_000), 'a few more are not worth it').toBe(0)
    const last = after.at(-1) as Checkpoint
    expect(last.head).toBe(fixture.git(repo, 'rev-parse', 'HEAD').trim())
    fixture.git(repo, 'merge-base', '--is-ancestor', 'HEAD', last.commit)
    expect(await checkpoints.save(keeping, makeCheckpointRequest(), NEVER), 'nothing has changed by it').toMatchObject({
      isNew: false,
    })
  },
)

test('only one chain of git commands at a time works in a repository', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  const linked = path.join(fixture.root, 'linked')
  put(repo, 'a.txt', 'a')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  fixture.git(repo, 'worktree', 'add', '--quiet', linked)
  const bin = path.join(fixture.root, 'bin')
  const git = fixture.git(fixture.root, '--exec-path').trim()
  // Each git that works on an index says on whose; two of one chain may do so side by side, two of different ones may not.
  const busy = path.join(fixture.root, 'busy')
  fs.mkdirSync(busy)
  const script = [
    '#!/bin/sh',
    '[ -n "$GIT_INDEX_FILE" ] || exec "$GIT" "$@"',
    'whose=$(dirname "$GIT_INDEX_FILE" | tr / _)',
    'for other in "$BUSY"/*; do',
    '  case $other in *"/$whose."*|"$BUSY/*") ;; *) echo "$other beside $whose" >>"$BUSY.two" ;; esac',
    'done',
    ': >"$BUSY/$whose.$$"',
    '"$GIT" "$@"; code=$?',
    'rm "$BUSY/$whose.$$"',
    'exit $code',
  ].join('\n')
  put(bin, 'git', script.replaceAll('$GIT"', `${git}/git"`).replaceAll('$BUSY', busy), 0o755)
  const checkpoints = fixture.checkpoints({ env: { ...fixture.env, PATH: `${bin}:${fixture.env['PATH']}` } })
  const keepings = [repo, repo, linked].map(cwd => fixture.checkpointTarget(cwd))
  for (const keeping of keepings) await checkpoints.save(keeping, makeCheckpointRequest(), NEVER)
  put(repo, 'b.txt', 'b')
  put(linked, 'c.txt', 'c')
  const made = await Promise.all(keepings.map(keeping => checkpoints.save(keeping, makeCheckpointRequest(), NEVER)))
  expect(made.map(({ checkpoint }) => checkpoint.number)).toEqual([2, 2, 2])
  expect(fs.existsSync(`${busy}.two`) ? fs.readFileSync(`${busy}.two`, 'utf8') : '').toBe('')
})

test('a git command that takes too long leaves no lock in the user’s repository', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  put(repo, 'x.slow', 'x')
  put(repo, '.gitattributes', '*.slow filter=slow\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'second')
  const [second = ''] = fixture.git(repo, 'rev-parse', 'HEAD').split('\n')
  fixture.git(repo, 'reset', '--quiet', '--hard', 'HEAD~1')
  fixture.git(repo, 'config', '--global', 'filter.slow.smudge', 'exec sleep 1000')
  await expect(
    fixture.checkpoints({ timeout: 1_000 }).switchToNewBranch(fixture.checkpointTarget(repo), 'other', second),
  ).rejects.toThrow('in time')
  expect(fs.readdirSync(path.join(repo, '.git')).filter(name => name.endsWith('.lock'))).toEqual([])
})

test('a chain of git commands ends when somebody aborts it or its time is over, and the next one works', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a')
  fixture.git(repo, 'config', '--global', 'filter.slow.clean', `echo $$ > ${fixture.root}/pid; exec sleep 1000`)
  put(repo, '.gitattributes', '*.slow filter=slow\n')
  put(repo, 'x.slow', 'x')
  const keeping = fixture.checkpointTarget(repo)
  const ending = new AbortController()
  const watcher = fs.watch(fixture.root, (_, name) => {
    if (name === 'pid') ending.abort()
  })
  await expect(fixture.checkpoints().save(keeping, makeCheckpointRequest(), ending.signal)).rejects.toThrow(
    'it was cancelled',
  )
  watcher.close()
  await expect(fixture.checkpoints({ timeout: 500 }).save(keeping, makeCheckpointRequest(), NEVER)).rejects.toThrow(
    'in time',
  )
  fs.rmSync(path.join(repo, 'x.slow'))
  expect(await fixture.checkpoints().save(keeping, makeCheckpointRequest(), NEVER)).toMatchObject({
    checkpoint: { number: 1 },
  })
})
