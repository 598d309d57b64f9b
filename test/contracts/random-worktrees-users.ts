import fs from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { Trouble } from '../../src/lib/errors.ts'
import type { Worktree, Worktrees } from '../../src/ports/worktrees.ts'
import { put } from './git-fixture.ts'
import { runInProcess, type KillPoint, KILL_TIMINGS, LONGEST_GIT_CALL, recordGitCalls } from './worktrees-process.ts'
import { openWorktreesFixture, type WorktreesFixture } from './worktrees-fixture.ts'

const KINDS = ['open', 'seal', 'merge', 'clear', 'rewind'] as const
type Kind = (typeof KINDS)[number]

/** `moment`: the progress at the kill, in thousandths of the usual number of git calls. */
type RandomKill = Omit<KillPoint, 'at'> & { readonly moment: number }

type UserAction =
  | { readonly kind: Kind; readonly who: number; readonly fate: RandomKill | null }
  | { readonly kind: 'edit'; readonly who: number; readonly file: string; readonly isCommitted: boolean }

const randomKill: fc.Arbitrary<RandomKill> = fc.record({
  moment: fc.nat(999),
  how: fc.constantFrom(...KILL_TIMINGS),
  torn: fc.nat(LONGEST_GIT_CALL),
})
const who = fc.nat(2)
export const userActions: fc.Arbitrary<readonly UserAction[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom<Kind[]>(...KINDS, 'seal', 'merge'),
        who,
        fate: fc.option(randomKill, { freq: 2 }),
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
  { minLength: 6, maxLength: 12 },
)

function killPointFor({ moment, how, torn }: RandomKill, calls: number): KillPoint {
  return { at: 1 + Math.floor((moment * calls) / 1000), how, torn }
}

/** Users who work in a repository, and the kills that hit them. */
export class RandomWorktreesUsers {
  readonly all: WorktreesFixture = openWorktreesFixture()
  readonly into = this.all.bench('all')
  readonly commits = new Set<string>()
  readonly files: string[] = []
  readonly #program: string
  readonly #usual: ReadonlyMap<Kind, number>
  #count = 0

  constructor(program: string, usual: ReadonlyMap<Kind, number> = new Map()) {
    this.#program = program
    this.#usual = usual
  }

  /** Returns the number of git calls of each action. */
  async rehearse(): Promise<Map<Kind, number>> {
    const usual = new Map<Kind, number>()
    for (const kind of KINDS) {
      if (kind === 'seal') this.#edit({ kind: 'edit', who: 0, file: 'own', isCommitted: false })
      usual.set(kind, (await recordGitCalls(this.all, this.#program, this.#words(kind, this.#bench(0)))).length)
    }
    return usual
  }

  async does(action: UserAction): Promise<void> {
    if (action.kind === 'edit') return this.#edit(action)
    const words = this.#words(action.kind, this.#bench(action.who))
    if (action.fate === null) await this.#call(words)
    else
      await runInProcess(this.all, this.#program, words, killPointFor(action.fate, this.#usual.get(action.kind) ?? 1))
    this.#remember()
  }

  #bench(who: number): Worktree {
    return this.all.bench(['one', 'two', 'three'][who] ?? '')
  }

  #words(kind: Exclude<UserAction['kind'], 'edit'>, one: Worktree): [keyof Worktrees, ...unknown[]] {
    const { repo } = this.all
    if (kind === 'open') return ['open', repo, one, this.into.branch]
    if (kind === 'seal') return ['commitAll', one, 'work', ['PRD.md'], this.into.branch]
    if (kind === 'merge') return ['merge', this.into, one.branch, `merge ${one.branch}`]
    if (kind === 'clear') return ['remove', repo, one, this.into.branch]
    return ['reset', this.#count % 3 === 0 ? one : this.into, 'main']
  }

  async #call([name, ...words]: [keyof Worktrees, ...unknown[]]): Promise<void> {
    const { shop: worktrees } = this.all
    try {
      await (worktrees[name] as (...given: unknown[]) => Promise<unknown>).apply(worktrees, words)
    } catch (cause) {
      // An action on a missing worktree fails at once, with an error that says a retry does not help.
      if (!(cause instanceof Trouble) || cause.mayHelpToRetry) throw cause
    }
  }

  #edit({ who, file, isCommitted }: Extract<UserAction, { kind: 'edit' }>): void {
    const { path: folder } = this.#bench(who)
    if (!fs.existsSync(path.join(folder, '.git'))) return
    const name = file === 'own' ? `own-${this.#count++}.txt` : file
    put(folder, name, `${this.#count++}\n`)
    if (file === 'own') this.files.push(name)
    if (!isCommitted) return
    try {
      this.commits.add(this.all.commit(folder, `counter-${path.basename(folder)}`, `${this.#count++}`))
    } catch {
      // A killed git has left a lock: there is no commit.
    }
  }

  #remember(): void {
    const said = this.all.git(this.all.repo, 'for-each-ref', '--format=%(objectname)', 'refs/heads/oneshot/demo')
    for (const id of said.split('\n').slice(0, -1)) this.commits.add(id)
  }

  /** Checks that every commit that was ever on oneshot's branches, and every user's file, still exists. */
  expectAllThere(): void {
    const { git, repo } = this.all
    const known = ['--not', '--branches', '--glob=refs/oneshot-loop/kept']
    const lost = git(repo, 'rev-list', '--no-walk', ...this.commits, 'main', ...known)
    expect(lost).toBe('')
    const named = git(repo, 'log', '-m', '--branches', '--glob=refs/oneshot-loop/kept', '--format=', '--name-only')
    const benches = [0, 1, 2].map(who => this.#bench(who).path)
    const isThere = (file: string): boolean => benches.some(folder => fs.existsSync(path.join(folder, file)))
    expect(this.files.filter(file => !named.includes(`${file}\n`) && !isThere(file))).toEqual([])
  }
}
