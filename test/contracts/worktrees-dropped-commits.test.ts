import { testSessionId } from '../../testkit/core/ids.ts'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createLoop } from '../../src/core/loop/loop-state.ts'
import type { LoopSpec } from '../../src/core/loop/spec.ts'
import { newTask } from '../../src/core/loop/loop-updates.ts'
import type { WorkEvidence } from '../../src/core/loop/work-evidence.ts'
import { Audit } from '../../src/loop/audit/detect-lost-work.ts'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'
import { countGit } from './count-git.ts'
import { openWorktreesFixture } from './worktrees-fixture.ts'

const ITEM = { key: 'one', label: '1', title: 'one', isDone: false, after: [] } as unknown as Parameters<
  typeof newTask
>[0]
const COMMIT = 'git -c user.name=a -c user.email=a@b commit --quiet'
const WORK = `echo own > own.txt; git add own.txt; ${COMMIT} -m own -- own.txt`

/** A checkout with two commits of the user; an agent and the user then run shell lines in it. */
function openIteration() {
  const fixture = openWorktreesFixture()
  const { repo, shop: worktrees, commit, env, root } = fixture
  const commits = ['u1.txt', 'u2.txt'].map(name => commit(repo, name, `${name}\n`))
  const trace = path.join(root, 'trace')
  const sh = (line: string, more: NodeJS.ProcessEnv = {}): string =>
    execFileSync('sh', ['-ec', line], { cwd: repo, env: { ...env, ...more }, stdio: 'pipe' }).toString()
  const audit = new Audit({ worktrees, cwd: repo, id: testSessionId('loop'), inner: '', apart: ['PRD.md'] })
  const loop = { ...createLoop({} as LoopSpec, 0), userBranch: 'main' }
  const inspect = async (work: () => unknown): Promise<{ evidence: WorkEvidence; notes: readonly string[] }> => {
    const since = await worktrees.snapshot(repo)
    const worker = { trace, since: Date.now() - 1_000 }
    work()
    const seen = await worktrees.collectEvidence(repo, since, ['PRD.md'], { worker, begunAt: worker.since })
    return audit.auditIteration(loop, { task: newTask(ITEM, 1), since, seen, at: undefined })
  }
  const agent = (line: string): string => sh(line, { GIT_TRACE2_EVENT: trace })
  return { ...fixture, commits: commits.map(id => id.slice(0, 10)), inspect, agent, user: (line: string) => sh(line) }
}

const WAYS: Readonly<Record<string, { agent: string; files: string[]; count: number; lost: string }>> = {
  'git reset --hard': {
    agent: `git reset --quiet --hard HEAD~2; ${WORK}`,
    files: ['own.txt'],
    count: 2,
    lost: 'lost: u1.txt, u2.txt',
  },
  'a reset without any work': { agent: 'git reset --quiet --hard HEAD~1', files: [], count: 1, lost: 'lost: u2.txt' },
  'an orphan branch': {
    agent: `git checkout --quiet --orphan new; git rm --quiet --cached -r .; rm u2.txt; git add -A; ${COMMIT} -m new
      git branch -D main; git branch -m main`,
    files: [],
    count: 3,
    lost: 'lost: u2.txt',
  },
  'a branch without a commit': {
    agent: 'git checkout --quiet --orphan new; git rm -rfq .; git branch -D main; git branch -m main',
    files: [],
    count: 3,
    lost: 'lost: .gitignore, a.txt, u1.txt, u2.txt',
  },
  'git commit --amend': {
    agent: `echo own > own.txt; git add own.txt; ${COMMIT} --amend -m other`,
    files: ['own.txt'],
    count: 1,
    lost: 'no file is lost',
  },
  'git rebase': {
    agent: `${WORK}; git -c user.name=a -c user.email=a@b rebase --quiet --onto HEAD~2 HEAD~1`,
    files: ['own.txt'],
    count: 1,
    lost: 'lost: u2.txt',
  },
}

test.each(Object.entries(WAYS))(
  'the audit names commits of the user that an agent removed from the branch, and the command that merges them: %s',
  async (_, { agent, files, count, lost }) => {
    const iteration = openIteration()
    const { repo, user, commits, inspect } = iteration
    const before = user('git rev-parse HEAD').trim()
    const { evidence, notes } = await inspect(() => iteration.agent(agent))
    expect(evidence.files, 'the absence of these files is no work').toEqual(files)
    const merge = `git merge ${/orphan|without a commit/.test(_) ? '--allow-unrelated-histories ' : ''}${before.slice(0, 10)}`
    expect(notes).toEqual([
      expect.stringMatching(
        new RegExp(`^the agent of task 1 removed commits? .*${commits[1]} of yours from main \\(${lost}\\): \``),
      ),
    ])
    expect(notes[0]?.match(/[0-9a-f]{10}/g), 'each commit, and the one to merge').toHaveLength(count + 1)
    expect(notes[0]).toContain(`\`${merge}\` brings ${count === 1 ? 'it' : 'them'} back`)
    user(`git reflog expire --expire=now --all; git gc --quiet --prune=now; ${merge} --no-edit`)
    user(`git merge-base --is-ancestor ${before} HEAD`)
    for (const name of ['a.txt', 'u1.txt', 'u2.txt', ...files]) expect(fs.existsSync(path.join(repo, name))).toBe(true)
  },
)

test('the audit blames no agent for commits that the user removes while the agent works', async () => {
  const { inspect, agent, user } = openIteration()
  for (const line of ['git reset --quiet --hard HEAD~1', `${COMMIT} --amend -m better`]) {
    const { notes } = await inspect(() => {
      agent(WORK.replaceAll('own', `own-${line.length}`))
      // The kernel may stamp the user's commit 10 ms early, with the time of the agent's.
      user(`sleep 0.05; ${line}`)
    })
    expect(notes, line).toEqual([])
  }
})

test('without a trace of the agent the note says that commits are gone, and blames nobody', async () => {
  const { inspect, user, commits } = openIteration()
  const { notes } = await inspect(() => user('git reset --quiet --hard HEAD~1'))
  expect(notes).toEqual([
    `commit ${commits[1]} of yours is no longer on main, since an agent worked on task 1 (lost: u2.txt): \`git merge ${commits[1]}\` brings it back`,
  ])
})

test('the evidence starts no further git process to learn that no commit was removed', async () => {
  const fixture = openWorktreesFixture()
  const { repo, commit } = fixture
  const counter = countGit(fixture)
  const worktrees = gitWorktrees({ env: counter.env })
  const since = await worktrees.snapshot(repo)
  for (const name of ['b.txt', 'c.txt']) commit(repo, name, `${name}\n`)
  const calls = await counter.during(async () => {
    expect(await worktrees.collectEvidence(repo, since, [])).not.toHaveProperty('dropped')
  })
  expect(calls.filter(name => ['rev-list', 'merge-base', 'log'].includes(name))).toEqual(['log'])
})
