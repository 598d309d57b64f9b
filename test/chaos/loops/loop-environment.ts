import fs from 'node:fs'
import path from 'node:path'
import { processesWith } from '../../../bench/measure/proc.ts'
import type { ProductClone } from '../../../bench/product/clone.ts'
import { type Home, homeAt } from '../../../src/state/home.ts'
import { run, type RunResult } from '../../../src/os/run.ts'
import { stubAgents } from '../../system/stub-agents.ts'

/** An agent that slowly creates the file that its task names. A kill between two steps leaves the first one done. */
const AGENT = String.raw`
prompt=$(cat)
file=$(printf '%s\n' "$prompt" | sed -n '/^# The task/,/^# Rules/p' | grep -o '\[make [^]]*\]' | head -1 | sed 's/^\[make \(.*\)\]$/\1/')
echo "$file $ONESHOT_SESSION" >> "$JOURNAL"
rm -f "$(git rev-parse --git-dir)/index.lock" # A git that was killed with an earlier life has left it.
sleep 0.3
echo "$file" > "$file"
sleep 0.1
git add "$file"
git -c user.name=a -c user.email=a@b commit -qm "make $file" -- "$file"
sleep 0.3
`

/**
 * A home, a repository with a list, and a scripted codex. Every process started here has the folder's path in its
 * environment.
 */
export class LoopEnvironment {
  readonly root: string
  readonly home: Home
  readonly project: string
  readonly journal: string
  readonly env: NodeJS.ProcessEnv
  readonly #main: string

  constructor({ root, main, env }: ProductClone, name: string) {
    this.root = path.join(root, name)
    this.home = homeAt(path.join(this.root, 'home'))
    this.project = path.join(this.root, 'project')
    this.journal = path.join(this.root, 'journal')
    this.#main = main
    for (const folder of ['project', 'bin']) fs.mkdirSync(path.join(this.root, folder), { recursive: true })
    const { codex = '' } = stubAgents(AGENT)
    fs.writeFileSync(path.join(this.root, 'bin', 'codex'), `#!/bin/sh\n${codex}\n`, { mode: 0o755 })
    this.env = {
      ...env,
      ONESHOT_HOME: this.home.root,
      HOME: this.root,
      JOURNAL: this.journal,
      PATH: `${path.join(this.root, 'bin')}:${env['PATH']}`,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
    }
  }

  /** Writes a committed list of these files, and a check that takes a moment. */
  async prepare(files: readonly string[]): Promise<void> {
    fs.writeFileSync(path.join(this.project, 'PRD.md'), files.map(file => `- [ ] the file [make ${file}]\n`).join(''))
    fs.writeFileSync(path.join(this.project, 'Makefile'), 'test:\n\t@sleep 0.2\n')
    await this.git('init', '-q', '-b', 'main', '.')
    await this.git('config', 'user.name', 'n')
    await this.git('config', 'user.email', 'e@x')
    await this.git('add', '.')
    await this.git('commit', '-qm', 'first')
  }

  oneshot(...args: string[]): Promise<RunResult> {
    return run(process.execPath, [this.#main, ...args], { cwd: this.project, env: this.env, timeout: 90_000 })
  }

  async git(...args: string[]): Promise<string> {
    return (await run('git', args, { cwd: this.project, env: this.env })).stdout.trim()
  }

  processes(): { pid: number; command: string }[] {
    return processesWith(this.root)
  }

  /** Maps each file to the sessions that worked on it, according to the agents' own records. */
  workedOn(): Map<string, Set<string>> {
    const lines = fs.existsSync(this.journal) ? fs.readFileSync(this.journal, 'utf8').trim().split('\n') : []
    const found = new Map<string, Set<string>>()
    for (const line of lines) {
      const [file = '', session = ''] = line.split(' ')
      found.set(file, (found.get(file) ?? new Set()).add(session))
    }
    return found
  }
}
