import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'

/** An action of a user or an agent in a repository: on its files, or with git. */
export type UserAction =
  | { readonly kind: 'write'; readonly path: string; readonly content: string; readonly isProgram: boolean }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'move'; readonly path: string; readonly to: string }
  | { readonly kind: 'git'; readonly words: readonly string[] }

const NAMES = ['a', 'b', 'c.txt', 'd e', '-f', 'g\nh', 'ü', 'ig']
const anyPath = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map(names => names.join('/'))
const content = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom('', 'x\n', '\r\n', '\0binary\n'),
  fc.nat(60).map(lines => 'line\n'.repeat(lines)),
)

const fileActions: fc.Arbitrary<UserAction> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('write' as const), path: anyPath, content, isProgram: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('link' as const), path: anyPath, target: anyPath }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), path: anyPath }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), path: anyPath, to: anyPath }) },
)

const branch = fc.constantFrom('main', 'one', 'two')
const WORDS: readonly fc.Arbitrary<readonly string[]>[] = [
  fc.constant(['add', '--all']),
  fc.constant(['add', '--intent-to-add', '.']),
  fc.constant(['commit', '--message', 'work']),
  fc.constant(['commit', '--all', '--amend', '--message', 'other']),
  branch.map(name => ['checkout', '-B', name]),
  branch.map(name => ['checkout', '--force', name]),
  fc.constant(['checkout', '--detach']),
  fc.constant(['stash', 'push', '--include-untracked']),
  fc.constant(['stash', 'pop']),
  fc.constant(['reset', '--mixed', 'HEAD~1']),
  fc.constant(['reset', '--hard']),
  fc.constant(['rm', '-r', '--cached', '--quiet', '.']),
  branch.map(name => ['merge', name]),
  fc.constant(['merge', '--abort']),
  branch.map(name => ['rebase', name]),
  fc.constant(['rebase', '--abort']),
  fc.constant(['clean', '-fd']),
  fc.constant(['status']),
  fc.constant(['pack-refs', '--all']),
  fc.constant(['gc', '--quiet']),
  fc.constant(['gc', '--quiet', '--prune=now']),
]
const gitActions: fc.Arbitrary<UserAction> = fc
  .oneof(...WORDS.map((words, at) => ({ weight: at < 3 ? 4 : 1, arbitrary: words })))
  .map(words => ({ kind: 'git' as const, words }))

export const userActions = fc.array(
  fc.oneof({ weight: 3, arbitrary: fileActions }, { weight: 2, arbitrary: gitActions }),
  {
    minLength: 4,
    maxLength: 24,
  },
)

/** Performs actions in one repository after the other, always at the same time of day, and returns their results. */
export class RandomGitUser {
  readonly repo: string
  readonly #env: NodeJS.ProcessEnv
  #seconds = 1_700_000_000

  constructor(repo: string, env: NodeJS.ProcessEnv) {
    this.repo = repo
    this.#env = env
  }

  /** Returns the exit code of git, or the error of the file system. */
  async perform(action: UserAction): Promise<string> {
    if (action.kind === 'git') return `git ${action.words.join(' ')}: ${await this.#git(action.words)}`
    try {
      this.#onFiles(action)
      return action.kind
    } catch (cause) {
      return `${action.kind}: ${(cause as NodeJS.ErrnoException).code}`
    }
  }

  #onFiles(action: Exclude<UserAction, { kind: 'git' }>): void {
    const file = path.join(this.repo, action.path)
    if (action.kind === 'remove') return fs.rmSync(file, { recursive: true, force: true })
    if (action.kind === 'move') return fs.renameSync(file, path.join(this.repo, action.to))
    this.#makeWay(action.path)
    if (action.kind === 'link') return fs.symlinkSync(action.target, file)
    fs.writeFileSync(file, action.content)
    fs.chmodSync(file, action.isProgram ? 0o755 : 0o644)
  }

  /** Replaces files on the path by folders; never follows a link, which may lead out of the repository. */
  #makeWay(relative: string): void {
    const parts = relative.split('/')
    for (let at = 1; at <= parts.length; at++) {
      const file = path.join(this.repo, ...parts.slice(0, at))
      const stat = fs.lstatSync(file, { throwIfNoEntry: false })
      const isLast = at === parts.length
      if (stat !== undefined && (isLast || !stat.isDirectory())) fs.rmSync(file, { recursive: true })
      if (!isLast) fs.mkdirSync(file, { recursive: true })
    }
  }

  #git(words: readonly string[]): Promise<string> {
    const date = `@${this.#seconds++} +0000`
    const env = { ...this.#env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date, GIT_EDITOR: 'true' }
    return new Promise((resolve, reject) => {
      const child = spawn('git', words, { cwd: this.repo, env, stdio: ['ignore', 'ignore', 'pipe'] })
      let said = ''
      child.stderr.on('data', chunk => {
        said += chunk
      })
      child.on('error', reject)
      child.on('close', code =>
        resolve(code === 0 ? 'ok' : `${code} ${/lock|unable|cannot|missing|bad object/i.exec(said)?.[0] ?? ''}`),
      )
    })
  }
}
