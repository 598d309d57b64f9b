import fs from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Checkpoint } from '../../src/core/checkpoint/checkpoint.ts'
import { Trouble } from '../../src/lib/errors.ts'
import { testSize } from '../../testkit/system/test-size.ts'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put } from './git-fixture.ts'
import { userActions, type UserAction, RandomGitUser } from './random-git-user.ts'
import { readTree, readUserState } from './read-tree.ts'

/** More of them by hand: RUNS=500 npx vitest run … */
const RUNS = Number(process.env['RUNS'] ?? testSize(2, 10))
const LIMIT = Math.max(90_000, 9_000 * RUNS)

async function begin(fixture: GitFixture, name: string): Promise<RandomGitUser> {
  const user = new RandomGitUser(fixture.repository(name), fixture.env)
  put(user.repo, '.gitignore', 'ig\n')
  put(user.repo, 'a/a', 'a\n')
  await user.perform({ kind: 'git', words: ['add', '--all'] })
  await user.perform({ kind: 'git', words: ['commit', '--message', 'first'] })
  return user
}

/** All files, and which of them may or may not be saved, because they are ignored. */
interface Sight {
  readonly all: Map<string, string>
  readonly ignored: ReadonlySet<string>
}

function look(fixture: GitFixture, repo: string): Sight {
  const ignored = fixture.git(repo, 'ls-files', '-z', '--others', '--ignored', '--exclude-standard').split('\0')
  return { all: readTree(repo), ignored: new Set(ignored.map(name => Buffer.from(name).toString('latin1'))) }
}

function expectSame(restored: Map<string, string>, { all, ignored }: Sight, others: ReadonlySet<string>): void {
  const plain = (files: Map<string, string>): [string, string][] =>
    [...files].filter(([name]) => !ignored.has(name) && !others.has(name))
  expect(plain(restored)).toEqual(plain(all))
  for (const name of ignored)
    if (restored.has(name) && !others.has(name)) expect(restored.get(name)).toBe(all.get(name))
}

test('checkpoints change nothing that a user does, and restore brings every one back', {
  timeout: LIMIT,
}, async () => {
  const fixture = openGitFixture()
  let run = 0
  const story = async (deeds: readonly UserAction[], picks: readonly number[]): Promise<void> => {
    const user = await begin(fixture, `repo${run++}`)
    const { repo } = user
    const checkpoints = fixture.checkpoints()
    const target = fixture.checkpointTarget(repo)
    const sights = new Map<number, { checkpoint: Checkpoint; sight: Sight }>()
    for (const deed of deeds) {
      await user.perform(deed)
      const sight = look(fixture, repo)
      const before = readUserState(repo)
      const { checkpoint, isNew } = await checkpoints.save(target, makeCheckpointRequest(), NEVER)
      expect(readUserState(repo)).toEqual(before)
      if (isNew) sights.set(checkpoint.number, { checkpoint, sight })
    }
    expect((await checkpoints.list(target)).map(({ number }) => number)).toEqual([...sights.keys()])
    for (const pick of picks) {
      const { checkpoint, sight } = [...sights.values()][pick % sights.size] as { checkpoint: Checkpoint; sight: Sight }
      const worktree = path.join(fixture.root, `beside${run++}`)
      await checkpoints.restoreToBranch(target, checkpoint, { branch: `beside${run}`, worktree })
      expectSame(readTree(worktree), sight, new Set())
      await checkpoints.save(target, makeCheckpointRequest(), NEVER)
      const over = (await checkpoints.list(target)).at(-1) as Checkpoint
      const { ignored } = look(fixture, repo)
      const isRefused = await checkpoints.restoreInPlace(target, checkpoint, over).then(
        () => false,
        cause => cause instanceof Trouble && cause.message.includes('would be lost'),
      )
      if (!isRefused) expectSame(readTree(repo), sight, ignored)
    }
    fixture.expectIntact(repo)
    fs.rmSync(repo, { recursive: true })
  }
  await fc.assert(fc.asyncProperty(userActions, fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), story), {
    numRuns: RUNS,
  })
})

/** Everything that tells one repository from another, except for when and where its files were written. */
function stateOf(fixture: GitFixture, repo: string): string[] {
  const git = (...words: string[]): string => fixture.git(repo, ...words)
  const file = (name: string): string => {
    const whole = path.join(repo, '.git', name)
    return fs.existsSync(whole) ? fs.readFileSync(whole, 'utf8') : 'none'
  }
  return [
    git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/stash', 'refs/tags'),
    ...['HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'config', 'info/exclude'].map(file),
    git('ls-files', '-z', '--stage', '-v'),
    git('status', '--porcelain=v2', '-z', '--branch'),
    git('reflog', 'show', '--all', '--format=%H %gd %gs')
      .split('\n')
      .filter(line => !line.includes('refs/oneshot'))
      .join('\n'),
    fs
      .readdirSync(path.join(repo, '.git'))
      .filter(name => !['gc.pid', 'logs', 'COMMIT_EDITMSG'].includes(name))
      .join(),
    fs.readdirSync(path.join(repo, '.git/hooks')).join(),
    JSON.stringify([...readTree(repo)]),
  ]
}

test('checkpoints beside a working user make no command of the user fail and do not change its result', {
  timeout: LIMIT,
}, async () => {
  const fixture = openGitFixture()
  let run = 0
  const story = async (deeds: readonly UserAction[]): Promise<void> => {
    const [user, twin] = [await begin(fixture, `ours${run}`), await begin(fixture, `twin${run++}`)]
    const checkpoints = fixture.checkpoints()
    const target = fixture.checkpointTarget(user.repo)
    const work = { isDone: false }
    const saving = (async () => {
      let made = 0
      do if ((await checkpoints.save(target, makeCheckpointRequest(), NEVER)).isNew) made++
      while (!work.isDone)
      return made
    })()
    saving.catch(() => undefined) // It is told of when the user has done everything.
    const came: string[] = []
    for (const deed of deeds) came.push(await user.perform(deed))
    work.isDone = true
    expect(await saving).toBeGreaterThan(0)
    const alone: string[] = []
    for (const deed of deeds) alone.push(await twin.perform(deed))
    expect(came).toEqual(alone)
    expect(stateOf(fixture, user.repo)).toEqual(stateOf(fixture, twin.repo))
    await checkpoints.save(target, makeCheckpointRequest(), NEVER)
    for (const { commit } of await checkpoints.list(target)) {
      fixture.git(user.repo, 'rev-list', '--objects', '--quiet', commit)
    }
    fixture.expectIntact(user.repo)
    const worktree = path.join(fixture.root, `beside${run}`)
    const last = (await checkpoints.list(target)).at(-1) as Checkpoint
    await checkpoints.restoreToBranch(target, last, { branch: 'beside', worktree })
    expectSame(readTree(worktree), look(fixture, user.repo), new Set())
    for (const { repo } of [user, twin]) fs.rmSync(repo, { recursive: true })
  }
  await fc.assert(fc.asyncProperty(userActions, story), { numRuns: RUNS })
})
