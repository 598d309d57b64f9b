import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Repository } from '../../src/world/git/repository.ts'
import { movesOf } from '../../src/world/git/workshop/own-moves.ts'
import type { Move } from '../../src/world/git/workshop/reflog.ts'
import { put } from './git-bench.ts'
import { openShopBench } from './workshop-bench.ts'

/** A trace of `git commit` commands, each from one second to another. */
function traceOf(
  folder: string,
  commands: readonly (readonly [from: number, until: number, ...argv: string[]])[],
): string {
  const time = (at: number): string => new Date(at * 1000).toISOString()
  const lines = commands.flatMap(([from, until, ...argv], n) => [
    { event: 'version', sid: `${n}`, time: time(from) },
    { event: 'start', sid: `${n}`, time: time(from), argv: ['git', ...argv] },
    { event: 'cmd_name', sid: `${n}`, time: time(from), name: argv[0] },
    { event: 'exit', sid: `${n}`, time: time(until), code: 0 },
  ])
  const file = path.join(folder, 'trace')
  fs.writeFileSync(file, lines.map(line => `${JSON.stringify(line)}\n`).join(''))
  return file
}

test('of a commit that is packed the second decides: one that was made while no command of the agent ran is not its own', () => {
  const { repo } = openShopBench()
  const now = Math.floor(Date.now() / 1000) - 100
  const worker = { trace: traceOf(repo, [[now + 0.2, now + 0.4, 'commit']]), since: (now - 10) * 1000 }
  const repository = { top: repo, commonDir: path.join(repo, '.git') } as Repository
  const move = (at: number): Move => ({ to: 'packed', at, message: 'commit: x' })
  const seconds = [now - 1, now, now + 1].filter(at => movesOf([move(at)], worker, repository).length > 0)
  expect(seconds).toEqual([now])
})

test('commits that were written before the work began and are picked or rebased are not its work', async () => {
  const { repo, shop, git, commit, head } = openShopBench()
  git(repo, 'checkout', '--quiet', '-b', 'old')
  put(repo, 'old.txt', 'old\n')
  git(repo, 'add', '.')
  git(repo, 'commit', '--quiet', '--date=2020-01-01T00:00:00Z', '-m', 'written long ago')
  const picked = head(repo)
  git(repo, 'checkout', '--quiet', 'main')
  const since = await shop.snapshot(repo)
  git(repo, 'cherry-pick', picked)
  const begunAt = Date.now() - 60_000
  expect(await shop.evidence(repo, since, [], { begunAt })).toMatchObject({
    commitCount: 0,
    change: { files: 0 },
    foreign: 1,
  })
  commit(repo, 'own.txt', 'own\n')
  expect(await shop.evidence(repo, since, [], { begunAt })).toMatchObject({ commitCount: 1, files: ['own.txt'] })
  // A task whose work was lost may pick that again.
  expect(await shop.evidence(repo, since, [], { begunAt: 0 })).toMatchObject({ commitCount: 2, change: { files: 2 } })
})
