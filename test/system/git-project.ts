import fs from 'node:fs'
import { expect } from 'vitest'
import { run } from '../../src/world/os/run.ts'
import { type House, until } from './house.ts'

type Git = (...args: string[]) => Promise<string>

/** The user's own git in the project, or in another folder. It is expected to succeed. */
export function gitIn(house: House, cwd = house.project): Git {
  return async (...args) => {
    const { code, stdout, stderr } = await run('git', args, { cwd, env: house.env })
    expect({ code, stderr: code === 0 ? '' : stderr }, `git ${args.join(' ')}`).toEqual({ code: 0, stderr: '' })
    return stdout.trim()
  }
}

/** Makes the project a repository with one commit. */
export async function beginProject(house: House): Promise<Git> {
  const git = gitIn(house)
  Object.assign(house.env, {
    GIT_AUTHOR_NAME: 'n',
    GIT_AUTHOR_EMAIL: 'e',
    GIT_COMMITTER_NAME: 'n',
    GIT_COMMITTER_EMAIL: 'e',
  })
  await git('init', '-q', '-b', 'main', '.')
  fs.writeFileSync(house.path('README'), 'a project\n')
  await git('add', '.')
  await git('commit', '-qm', 'first')
  return git
}

/** All that an ended session wants saved is. */
export async function allSaved(house: House, name: string): Promise<void> {
  await house.ended(name)
  await until('all is saved', async () => ((await house.status(name)).isSaving ? undefined : true))
}
