import fs from 'node:fs'
import path from 'node:path'
import { which } from '../../src/os/which.ts'
import type { GitFixture } from './git-fixture.ts'

/** Counts the git processes of an action. */
export interface GitCounter {
  /** The environment in which `git` is the counting program. */
  readonly env: NodeJS.ProcessEnv
  /** Runs the action and returns the names of the git commands that it started. */
  readonly during: (action: () => Promise<unknown>) => Promise<string[]>
}

/** Puts a program before git that notes each call. */
export function countGit({ root, env }: GitFixture): GitCounter {
  const [folder, log] = [path.join(root, 'counting-git'), path.join(root, 'git-calls')]
  fs.mkdirSync(folder)
  const git = which('git', env, '/')
  fs.writeFileSync(path.join(folder, 'git'), `#!/bin/sh\necho "$*" >>'${log}'\nexec '${git}' "$@"\n`, { mode: 0o755 })
  return {
    env: { ...env, PATH: `${folder}:${env['PATH']}` },
    during: async action => {
      fs.writeFileSync(log, '')
      await action()
      return fs.readFileSync(log, 'utf8').split('\n').slice(0, -1).map(commandName)
    },
  }
}

/** Skips git's own options, which stand before the command. */
function commandName(line: string): string {
  const words = line.split(' ')
  const name = words.findIndex((word, at) => !word.startsWith('-') && words[at - 1] !== '-c' && !word.includes('='))
  return words[name] ?? line
}
