import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Keeping } from '../../src/ports/checkpoints.ts'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from './git-bench.ts'

function begin(bench: GitBench): string {
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a')
  bench.git(repo, 'add', '.')
  bench.git(repo, 'commit', '--quiet', '--message', 'first')
  return repo
}

const dropObject = (repo: string, object: string): void =>
  fs.rmSync(path.join(repo, '.git/objects', object.slice(0, 2), object.slice(2)))

async function saveSome(bench: GitBench, repo: string, count: number): Promise<Keeping> {
  const keeping = bench.keeping(repo)
  for (let n = 0; n < count; n++) {
    put(repo, 'work.txt', `${n}`)
    await saved(bench.checkpoints().save(keeping, occasion({ at: n * 1000 }), NEVER))
  }
  return keeping
}

const numbersOf = async (bench: GitBench, keeping: Keeping): Promise<number[]> =>
  (await bench.checkpoints().list(keeping)).map(({ number }) => number)

test('when the newest checkpoint is missing, the one before it is the newest', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const keeping = await saveSome(bench, repo, 3)
  dropObject(repo, (await bench.checkpoints().list(keeping)).at(-1)?.commit ?? '')
  put(repo, 'a.txt', 'later')
  expect(await saved(bench.checkpoints().save(keeping, occasion(), NEVER))).toMatchObject({ number: 3 })
  expect(await numbersOf(bench, keeping)).toEqual([1, 2, 3])
  bench.git(repo, 'gc', '--quiet')
})

test('also what is broken can be forgotten, and is in nobody’s way before that', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const [broken, other] = [await saveSome(bench, repo, 2), await saveSome(bench, repo, 1)]
  dropObject(repo, (await bench.checkpoints().list(broken)).at(-1)?.commit ?? '')
  expect((await bench.checkpoints().find(repo)).map(({ sessionId }) => sessionId)).toEqual([other.sessionId])
  await bench.checkpoints().forget(broken)
  bench.git(repo, 'gc', '--quiet')
})

test('a file that is missing in all checkpoints is saved again, and they stay', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  put(repo, 'notes.txt', 'never committed')
  const keeping = await saveSome(bench, repo, 4)
  dropObject(repo, bench.git(repo, 'hash-object', 'notes.txt').trim())
  put(repo, 'a.txt', 'next')
  await saved(bench.checkpoints().save(keeping, occasion(), NEVER))
  expect(await numbersOf(bench, keeping)).toEqual([1, 2, 3, 4, 5])
  bench.expectSound(repo)
})

test('checkpoints whose history was rewritten stay, and can be thinned', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const keeping = await saveSome(bench, repo, 25)
  bench.git(
    repo,
    'config',
    'alias.rewrite',
    'filter-branch -f --msg-filter cat --env-filter "export GIT_AUTHOR_NAME=x"',
  )
  bench.git(repo, 'rewrite', '--', '--all')
  for (const ref of bench.git(repo, 'for-each-ref', '--format=%(refname)', 'refs/original').trim().split('\n')) {
    bench.git(repo, 'update-ref', '-d', ref)
  }
  bench.git(repo, 'reflog', 'expire', '--expire=now', '--all')
  bench.git(repo, 'gc', '--quiet', '--prune=now')
  expect(await bench.checkpoints().thin(keeping, 10 * 86_400_000)).toBe(23)
  const folder = path.join(bench.state, keeping.sessionId)
  for (const name of fs.readdirSync(folder)) if (name.startsWith('index-')) fs.truncateSync(`${folder}/${name}`, 100)
  put(repo, 'a.txt', 'next')
  await saved(bench.checkpoints().save(keeping, occasion(), NEVER))
  expect(await numbersOf(bench, keeping)).toEqual([1, 25, 26])
})

test('while garbage is collected, nothing is thinned; when it was meanwhile, the chain is whole again', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const keeping = await saveSome(bench, repo, 25)
  const collector = path.join(repo, '.git/gc.pid')
  fs.writeFileSync(collector, '1 elsewhere')
  expect(await bench.checkpoints().thin(keeping, 10 * 86_400_000)).toBe(0)
  fs.rmSync(collector)
  // One that looked before the ref was moved, and removes after it.
  const script = `#!/bin/sh
PATH='${process.env['PATH']}'
case " $* " in *" update-ref "*) ;; *) exec git "$@" ;; esac
git prune --dry-run --expire=now > ../pruned
touch .git/gc.pid
git "$@"
code=$?
while read object rest; do rm -f .git/objects/$(echo $object | cut -c1-2)/$(echo $object | cut -c3-); done < ../pruned
rm -f .git/gc.pid
exit $code
`
  put(bench.root, 'bin/git', script, 0o755)
  const beside = bench.checkpoints({ env: { ...bench.env, PATH: `${bench.root}/bin:${process.env['PATH']}` } })
  expect(await beside.thin(keeping, 10 * 86_400_000)).toBe(0)
  expect(await numbersOf(bench, keeping)).toHaveLength(25)
  bench.git(repo, 'gc', '--quiet')
})
