import { spawnSync } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import type { Checkpoint } from '../../src/core/checkpoint/checkpoint.ts'
import type { CheckpointTarget, SaveResult, CheckpointRequest } from '../../src/ports/checkpoints.ts'
import { GitCheckpoints, type GitCheckpointsOptions } from '../../src/world/git/checkpoint/git-checkpoints.ts'
import { testSessionId } from '../../testkit/core/ids.ts'

/** A user with a home and repositories, which the test removes at its end. */
export interface GitFixture {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  /** The equivalent of oneshot's state folder. */
  readonly state: string
  /** Runs git as the user. Throws if it fails. */
  readonly git: (cwd: string, ...args: readonly string[]) => string
  /** Checks that all objects reachable from refs exist and are valid. */
  expectIntact(repo: string): void
  /** Creates a repository with an identity. */
  repository(name: string, ...options: readonly string[]): string
  checkpoints(options?: Partial<GitCheckpointsOptions>): GitCheckpoints
  checkpointTarget(cwd: string): CheckpointTarget
}

export function openGitFixture(): GitFixture {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'os-git-')))
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const home = path.join(root, 'home')
  const state = path.join(root, 'state')
  fs.mkdirSync(home)
  const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (cwd: string, ...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}${stdout}`)
    return stdout
  }
  return {
    root,
    env,
    state,
    git,
    expectIntact: repo => {
      // With explicit refs, fsck ignores the index: git 2.39 itself lets an empty index point to a missing tree.
      const refs = git(repo, 'for-each-ref', '--format=%(refname)').split('\n').slice(0, -1)
      if (refs.length > 0) git(repo, 'fsck', '--strict', ...refs)
    },
    repository: (name, ...options) => {
      const folder = path.join(root, name)
      fs.mkdirSync(folder, { recursive: true })
      git(folder, 'init', '--quiet', '--initial-branch=main', ...options)
      git(folder, 'config', 'user.name', 'Somebody')
      git(folder, 'config', 'user.email', 'somebody@example.org')
      return folder
    },
    checkpoints: options => new GitCheckpoints({ env, folderOf: id => path.join(state, id), ...options }),
    checkpointTarget: cwd => ({
      cwd,
      sessionId: testSessionId(crypto.randomBytes(5).toString('hex')),
      name: 'demo-work',
    }),
  }
}

export const NEVER = new AbortController().signal

export function makeCheckpointRequest(overrides: Partial<CheckpointRequest> = {}): CheckpointRequest {
  return {
    trigger: 'edit',
    attempt: 1,
    at: 1_800_000_000_123,
    record: '{"goal":"x"}',
    isRecordNews: false,
    isVisible: false,
    ...overrides,
  }
}

/** Returns the new checkpoint. Throws if nothing was saved. */
export async function savedCheckpoint(made: Promise<SaveResult>): Promise<Checkpoint> {
  const { checkpoint, isNew } = await made
  if (!isNew) throw new Error('nothing was saved')
  return checkpoint
}

export function put(folder: string, name: string, content: string | Buffer = '', mode?: number): void {
  const file = path.join(folder, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
  if (mode !== undefined) fs.chmodSync(file, mode)
}
