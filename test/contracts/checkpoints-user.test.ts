import fs from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Checkpoint } from '../../src/core/checkpoint.ts'
import { Trouble } from '../../src/lib/trouble.ts'
import { type GitBench, NEVER, occasion, openGitBench, put } from './git-bench.ts'
import { anyDeeds, type Deed, GitUser } from './git-user.ts'
import { treeIn, userState } from './working-tree.ts'

/** More of them by hand: RUNS=500 npx vitest run … */
const RUNS = Number(process.env['RUNS'] ?? 10)
const LIMIT = 9_000 * RUNS

async function begin(bench: GitBench, name: string): Promise<GitUser> {
  const user = new GitUser(bench.repository(name), bench.env)
  put(user.repo, '.gitignore', 'ig\n')
  put(user.repo, 'a/a', 'a\n')
  await user.does({ kind: 'git', words: ['add', '--all'] })
  await user.does({ kind: 'git', words: ['commit', '--message', 'first'] })
  return user
}

/** All files, and which of them may or may not be saved, because they are ignored. */
interface Sight {
  readonly all: Map<string, string>
  readonly ignored: ReadonlySet<string>
}

function look(bench: GitBench, repo: string): Sight {
  const ignored = bench.git(repo, 'ls-files', '-z', '--others', '--ignored', '--exclude-standard').split('\0')
  return { all: treeIn(repo), ignored: new Set(ignored.map(name => Buffer.from(name).toString('latin1'))) }
}

function expectSame(restored: Map<string, string>, { all, ignored }: Sight, others: ReadonlySet<string>): void {
  const plain = (files: Map<string, string>): [string, string][] =>
    [...files].filter(([name]) => !ignored.has(name) && !others.has(name))
  expect(plain(restored)).toEqual(plain(all))
  for (const name of ignored)
    if (restored.has(name) && !others.has(name)) expect(restored.get(name)).toBe(all.get(name))
}

test('whatever a user does, saving changes nothing of it, and every checkpoint comes back', {
  timeout: LIMIT,
}, async () => {
  const bench = openGitBench()
  let run = 0
  const story = async (deeds: readonly Deed[], picks: readonly number[]): Promise<void> => {
    const user = await begin(bench, `repo${run++}`)
    const { repo } = user
    const checkpoints = bench.checkpoints()
    const keeping = bench.keeping(repo)
    const sights = new Map<number, { checkpoint: Checkpoint; sight: Sight }>()
    for (const deed of deeds) {
      await user.does(deed)
      const sight = look(bench, repo)
      const before = userState(repo)
      const { checkpoint, isNew } = await checkpoints.save(keeping, occasion(), NEVER)
      expect(userState(repo)).toEqual(before)
      if (isNew) sights.set(checkpoint.number, { checkpoint, sight })
    }
    expect((await checkpoints.list(keeping)).map(({ number }) => number)).toEqual([...sights.keys()])
    for (const pick of picks) {
      const { checkpoint, sight } = [...sights.values()][pick % sights.size] as { checkpoint: Checkpoint; sight: Sight }
      const worktree = path.join(bench.root, `beside${run++}`)
      await checkpoints.restoreBeside(keeping, checkpoint, { branch: `beside${run}`, worktree })
      expectSame(treeIn(worktree), sight, new Set())
      await checkpoints.save(keeping, occasion(), NEVER)
      const over = (await checkpoints.list(keeping)).at(-1) as Checkpoint
      const { ignored } = look(bench, repo)
      const isRefused = await checkpoints.restoreHere(keeping, checkpoint, over).then(
        () => false,
        cause => cause instanceof Trouble && cause.message.includes('would be lost'),
      )
      if (!isRefused) expectSame(treeIn(repo), sight, ignored)
    }
    bench.expectSound(repo)
    fs.rmSync(repo, { recursive: true })
  }
  await fc.assert(fc.asyncProperty(anyDeeds, fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), story), {
    numRuns: RUNS,
  })
})

/** Everything that tells one repository from another, except for when and where its files were written. */
function stateOf(bench: GitBench, repo: string): string[] {
  const git = (...words: string[]): string => bench.git(repo, ...words)
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
    JSON.stringify([...treeIn(repo)]),
  ]
}

test('beside a user at work nothing fails because of us, and all ends as without us', { timeout: LIMIT }, async () => {
  const bench = openGitBench()
  let run = 0
  const story = async (deeds: readonly Deed[]): Promise<void> => {
    const [user, twin] = [await begin(bench, `ours${run}`), await begin(bench, `twin${run++}`)]
    const checkpoints = bench.checkpoints()
    const keeping = bench.keeping(user.repo)
    const work = { isDone: false }
    const saving = (async () => {
      let made = 0
      do if ((await checkpoints.save(keeping, occasion(), NEVER)).isNew) made++
      while (!work.isDone)
      return made
    })()
    saving.catch(() => undefined) // It is told of when the user has done everything.
    const came: string[] = []
    for (const deed of deeds) came.push(await user.does(deed))
    work.isDone = true
    expect(await saving).toBeGreaterThan(0)
    const alone: string[] = []
    for (const deed of deeds) alone.push(await twin.does(deed))
    expect(came).toEqual(alone)
    expect(stateOf(bench, user.repo)).toEqual(stateOf(bench, twin.repo))
    await checkpoints.save(keeping, occasion(), NEVER)
    for (const { commit } of await checkpoints.list(keeping)) {
      bench.git(user.repo, 'rev-list', '--objects', '--quiet', commit)
    }
    bench.expectSound(user.repo)
    const worktree = path.join(bench.root, `beside${run}`)
    const last = (await checkpoints.list(keeping)).at(-1) as Checkpoint
    await checkpoints.restoreBeside(keeping, last, { branch: 'beside', worktree })
    expectSame(treeIn(worktree), look(bench, user.repo), new Set())
    for (const { repo } of [user, twin]) fs.rmSync(repo, { recursive: true })
  }
  await fc.assert(fc.asyncProperty(anyDeeds, story), { numRuns: RUNS })
})
