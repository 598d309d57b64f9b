import fs from 'node:fs'
import { expect } from 'vitest'
import { run } from '../../src/os/run.ts'
import { type TestHome, waitUntil } from './test-home.ts'

type Git = (...args: string[]) => Promise<string>

/** Returns the user's git in the project, or in another folder. It throws if git fails. */
export function gitIn(testHome: TestHome, cwd = testHome.project): Git {
  return async (...args) => {
    const { code, stdout, stderr } = await run('git', args, { cwd, env: testHome.env })
    expect({ code, stderr: code === 0 ? '' : stderr }, `git ${args.join(' ')}`).toEqual({ code: 0, stderr: '' })
    return stdout.trim()
  }
}

/** Makes the project a repository with one commit. */
export async function initProject(testHome: TestHome): Promise<Git> {
  const git = gitIn(testHome)
  Object.assign(testHome.env, {
    GIT_AUTHOR_NAME: 'n',
    GIT_AUTHOR_EMAIL: 'e',
    GIT_COMMITTER_NAME: 'n',
    GIT_COMMITTER_EMAIL: 'e',
  })
  await git('init', '-q', '-b', 'main', '.')
  fs.writeFileSync(testHome.path('README'), 'a project\n')
  await git('add', '.')
  await git('commit', '-qm', 'first')
  return git
}

/** Waits until all checkpoints of an ended session are saved. */
export async function waitForCheckpoints(testHome: TestHome, name: string): Promise<void> {
  await testHome.ended(name)
  await waitUntil('all is saved', async () => ((await testHome.status(name)).isSaving ? undefined : true))
}
