import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Trouble } from '../../src/lib/trouble.ts'
import type { Bench, Workshop } from '../../src/ports/workshop.ts'
import { bundled } from '../../src/testkit/real/companion.ts'
import { put } from './git-bench.ts'
import { anyDeath, byHand, type Death } from './shop-hands.ts'
import { openShopBench, type ShopBench } from './workshop-bench.ts'

const RUNS = Number(process.env['RUNS'] ?? 5)

let program: string
beforeAll(async () => {
  program = await bundled(path.join(path.dirname(fileURLToPath(import.meta.url)), 'shop-hand.ts'))
})
afterAll(() => fs.rmSync(program))

test('eight that open worktrees at once all get theirs', async () => {
  const all = openShopBench()
  const { repo, bench, git, head } = all
  for (let n = 0; n < 100; n++) put(repo, `many/${n}.txt`, `${n}\n`)
  all.commit(repo, 'b.txt', 'b')
  const benches = Array.from({ length: 8 }, (_, n) => bench(`${n}`))
  const answers = await Promise.all(benches.map(one => byHand(all, program, ['open', repo, one, 'main'])))
  expect(answers).toEqual(benches.map(() => 'done'))
  expect(benches.map(one => git(one.path, 'status', '--porcelain') + head(one.path))).toEqual(
    benches.map(() => head(repo)),
  )
})

test('a lock of somebody else is waited for; one that was left behind goes', async () => {
  const { repo, bench, shop } = openShopBench()
  const lock = path.join(repo, '.git/refs/heads/oneshot/demo/one.lock')
  put(repo, '.git/refs/heads/oneshot/demo/one.lock')
  setTimeout(() => fs.rmSync(lock), 500)
  await shop.open(repo, bench('one'), 'main')
  put(bench('one').path, 'x.txt', 'x')
  const left = path.join(repo, '.git/worktrees/one/index.lock')
  fs.writeFileSync(left, '')
  fs.utimesSync(left, 0, 0)
  await shop.seal(bench('one'), 'x', [], 'main')
})

type Deed =
  | {
      readonly kind: 'open' | 'seal' | 'merge' | 'clear' | 'rewind'
      readonly who: number
      readonly death: Death | null
    }
  | { readonly kind: 'edit'; readonly who: number; readonly file: string; readonly isCommitted: boolean }

const who = fc.nat(2)
const anyDeeds: fc.Arbitrary<readonly Deed[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom(
          'open' as const,
          'seal' as const,
          'seal' as const,
          'merge' as const,
          'merge' as const,
          'clear' as const,
          'rewind' as const,
        ),
        who,
        death: fc.option(anyDeath, { freq: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('edit' as const),
        who,
        file: fc.constantFrom('a.txt', 'b.txt', 'own'),
        isCommitted: fc.boolean(),
      }),
    },
  ),
  { minLength: 10, maxLength: 18 },
)

/** People who work in a repository, and whatever kills them. */
class Story {
  readonly all: ShopBench = openShopBench()
  readonly into = this.all.bench('all')
  readonly commits = new Set<string>()
  readonly files: string[] = []
  #count = 0

  async does(deed: Deed): Promise<void> {
    if (deed.kind === 'edit') return this.#edit(deed)
    const words = this.#words(deed.kind, this.#bench(deed.who))
    if (deed.death !== null) await byHand(this.all, program, words, deed.death)
    else await this.#call(words)
    this.#remember()
  }

  #bench(who: number): Bench {
    return this.all.bench(['one', 'two', 'three'][who] ?? '')
  }

  #words(kind: Exclude<Deed['kind'], 'edit'>, one: Bench): [keyof Workshop, ...unknown[]] {
    const { repo } = this.all
    if (kind === 'open') return ['open', repo, one, this.into.branch]
    if (kind === 'seal') return ['seal', one, 'work', ['PRD.md'], this.into.branch]
    if (kind === 'merge') return ['merge', this.into, one.branch, `merge ${one.branch}`]
    if (kind === 'clear') return ['clear', repo, one, this.into.branch]
    return ['rewind', this.#count % 3 === 0 ? one : this.into, 'main']
  }

  async #call([name, ...words]: [keyof Workshop, ...unknown[]]): Promise<void> {
    const { shop } = this.all
    try {
      await (shop[name] as (...given: unknown[]) => Promise<unknown>).apply(shop, words)
    } catch (cause) {
      // Somebody is asked for what is not there: that is said at once, and said to stay so.
      if (!(cause instanceof Trouble) || cause.mayHelpToRetry) throw cause
    }
  }

  #edit({ who, file, isCommitted }: Extract<Deed, { kind: 'edit' }>): void {
    const { path: folder } = this.#bench(who)
    if (!fs.existsSync(path.join(folder, '.git'))) return
    const name = file === 'own' ? `own-${this.#count++}.txt` : file
    put(folder, name, `${this.#count++}\n`)
    if (file === 'own') this.files.push(name)
    if (!isCommitted) return
    try {
      this.commits.add(this.all.commit(folder, `counter-${path.basename(folder)}`, `${this.#count++}`))
    } catch {
      // A lock that a killed git has left: then it is not committed.
    }
  }

  #remember(): void {
    const said = this.all.git(this.all.repo, 'for-each-ref', '--format=%(objectname)', 'refs/heads/oneshot/demo')
    for (const id of said.split('\n').slice(0, -1)) this.commits.add(id)
  }

  /** What was ever on a branch of ours, and no file of anybody, is nowhere any more. */
  expectAllThere(): void {
    const { git, repo } = this.all
    const known = ['--not', '--branches', '--glob=refs/oneshot-loop/kept']
    const lost = git(repo, 'rev-list', '--no-walk', '--no-merges', ...this.commits, 'main', ...known)
    expect(lost).toBe('')
    const named = git(repo, 'log', '-m', '--branches', '--glob=refs/oneshot-loop/kept', '--format=', '--name-only')
    const benches = [0, 1, 2].map(who => this.#bench(who).path)
    const isThere = (file: string): boolean => benches.some(folder => fs.existsSync(path.join(folder, file)))
    expect(this.files.filter(file => !named.includes(`${file}\n`) && !isThere(file))).toEqual([])
  }
}

test('whoever is killed, and whenever: nothing that was made is lost, and nothing of the user’s is touched', async () => {
  await fc.assert(
    fc.asyncProperty(anyDeeds, async deeds => {
      const story = new Story()
      const { all, into } = story
      await all.shop.open(all.repo, into, 'main')
      for (const who of [0, 1]) {
        await story.does({ kind: 'open', who, death: null })
        await story.does({ kind: 'edit', who, file: 'own', isCommitted: true })
      }
      const before = all.userState()
      for (const deed of deeds) {
        await story.does(deed)
        story.expectAllThere()
        expect(all.userState()).toEqual(before)
      }
      await expectToGoOn(all, into)
      story.expectAllThere()
      all.expectSound(all.repo)
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
}, 600_000)

/** After all of it, everything can be done as if nothing had happened. */
async function expectToGoOn({ shop, repo, bench, commit, git }: ShopBench, into: Bench): Promise<void> {
  const last = bench('last')
  await shop.open(repo, last, 'main')
  commit(last.path, 'last.txt', 'last')
  for (const name of ['one', 'two', 'three']) await shop.open(repo, bench(name), into.branch)
  await shop.rewind(into, 'main')
  expect(await shop.merge(into, last.branch, 'last')).toMatchObject({ kind: 'merged' })
  expect(git(into.path, 'status', '--porcelain')).toBe('')
  expect(await shop.clear(repo, last, into.branch)).toEqual({ kind: 'gone' })
}
