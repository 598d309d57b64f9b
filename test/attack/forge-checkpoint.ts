import { spawnSync } from 'node:child_process'
import type { GitFixture } from '../contracts/git-fixture.ts'

const NOW = '2026-01-01T00:00:00.000Z'

/** Returns the message of a checkpoint with other trailers than oneshot writes. */
export function checkpointMessage(trailers: Readonly<Record<string, string>>, more = '', record = '{}'): string {
  const all = { Checkpoint: '1', Session: 'abc', At: NOW, Trigger: 'edit', Attempt: '1', Head: 'none', ...trailers }
  const lines = Object.entries(all).map(([key, value]) => `Oneshot-${key}: ${value}\n`)
  return `oneshot: checkpoint 1 (edit)\n\n${record}\n\n${lines.join('')}${more}`
}

/** Writes an object into a repository as it is. Returns its id. */
export function writeObject(fixture: GitFixture, repo: string, type: string, content: string | Buffer): string {
  const args = ['hash-object', '-t', type, '-w', '--stdin', '--literally']
  const { stdout, stderr, status } = spawnSync('git', args, { cwd: repo, env: fixture.env, input: content })
  if (status !== 0) throw new Error(stderr.toString())
  return stdout.toString().trim()
}

export interface Entry {
  readonly mode: '100644' | '120000' | '40000' | '160000'
  readonly name: string
  readonly id: string
}

/** Writes a tree; the entries are in git's order. */
export function writeTree(fixture: GitFixture, repo: string, entries: readonly Entry[]): string {
  const raw = entries.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])
  return writeObject(fixture, repo, 'tree', Buffer.concat(raw))
}

function writeCommit(fixture: GitFixture, repo: string, tree: string, message: string, parents: string[] = []): string {
  const who = 'oneshot <oneshot@localhost> 1767225600 +0000'
  const lines = [`tree ${tree}`, ...parents.map(parent => `parent ${parent}`), `author ${who}`, `committer ${who}`]
  return writeObject(fixture, repo, 'commit', `${lines.join('\n')}\n\n${message}`)
}

/** Points a ref of a repository to a forged checkpoint. */
export function forgeCheckpoint(
  fixture: GitFixture,
  repo: string,
  { ref, message, tree, parents }: { ref: string; message: string; tree?: string; parents?: string[] },
): string {
  const commit = writeCommit(fixture, repo, tree ?? writeTree(fixture, repo, []), message, parents)
  fixture.git(repo, 'update-ref', ref, commit)
  return commit
}
