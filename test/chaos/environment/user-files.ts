import { spawnSync } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

/** A repository with something of every kind, and a tmux server: oneshot must touch none of it. */
export class UserFiles {
  readonly #project: string
  readonly #socket: string
  readonly #env: NodeJS.ProcessEnv
  readonly #before: Record<string, string>

  constructor(theatre: { root: string; project: string; env: NodeJS.ProcessEnv }) {
    const { LD_PRELOAD: _, ...env } = theatre.env
    this.#project = theatre.project
    this.#socket = path.join(theatre.root, 'users.sock')
    this.#env = { ...env, GIT_CONFIG_GLOBAL: '/dev/null' }
    this.#lay()
    this.#tmux('new-session', '-d', '-s', 'mine', '-x', '80', '-y', '24', 'cat')
    this.#before = this.#look()
  }

  /** Lists the differences from the beginning. */
  changes(): string[] {
    const now = this.#look()
    return Object.keys(this.#before)
      .filter(name => now[name] !== this.#before[name])
      .map(name => `${name} was ${this.#before[name]}, is ${now[name]}`)
  }

  close(): void {
    this.#tmux('kill-server')
  }

  #lay(): void {
    const write = (name: string, text: string): void => fs.writeFileSync(path.join(this.#project, name), text)
    this.#git('init', '-q', '-b', 'main')
    this.#git('config', 'user.email', 'user@example.com')
    this.#git('config', 'user.name', 'A user')
    write('a.txt', 'one\n')
    this.#git('add', '.')
    this.#git('commit', '-q', '-m', 'first')
    write('a.txt', 'stashed\n')
    this.#git('stash', '-q')
    this.#git('checkout', '-q', '-b', 'work')
    write('a.txt', 'staged\n')
    this.#git('add', '.')
    write('a.txt', 'changed\n')
    write('new.txt', 'untracked\n')
  }

  #look(): Record<string, string> {
    const index = fs.readFileSync(path.join(this.#project, '.git', 'index'))
    return {
      'the index': crypto.createHash('sha256').update(index).digest('hex'),
      HEAD: this.#git('rev-parse', 'HEAD') + fs.readFileSync(path.join(this.#project, '.git', 'HEAD'), 'utf8'),
      branches: this.#git('for-each-ref', 'refs/heads', 'refs/tags'),
      stash: this.#git('stash', 'list'),
      files: this.#git('--no-optional-locks', 'status', '--porcelain=v1'),
      'the changed file': fs.readFileSync(path.join(this.#project, 'a.txt'), 'utf8'),
      tmux: this.#tmux('list-panes', '-a', '-F', '#{pid} #{session_name} #{pane_pid} #{pane_dead}'),
    }
  }

  #git(...args: string[]): string {
    return spawnSync('git', args, { cwd: this.#project, env: this.#env, encoding: 'utf8' }).stdout
  }

  #tmux(...args: string[]): string {
    const words = ['-S', this.#socket, '-f', '/dev/null', ...args]
    return spawnSync('tmux', words, { cwd: this.#project, env: this.#env, encoding: 'utf8' }).stdout
  }
}
