import fs from 'node:fs'
import path from 'node:path'
import { GitError } from '../git-error.ts'
import {
  type CheckpointCommit,
  type RawCommit,
  parseCheckpoint,
  readCommits,
  readCommitsAs,
  toCheckpoint,
} from './commits.ts'
import {
  CHECKPOINT_REFS,
  type RepositoryContext,
  nestedRef,
  nestedSuffix,
  openNested,
  parseRef,
} from '../repository-context.ts'
import type { Checkpoint } from '../../../core/checkpoint/checkpoint.ts'
import { type RawPath, parentFolders } from '../../../lib/text/raw-path.ts'
import { Trouble } from '../../../lib/errors.ts'
import type { SavedSession } from '../../../ports/checkpoints.ts'
import type { Git } from '../git.ts'
import { type CheckpointTrailers, type NestedRepository, parseRecord } from './commit-message.ts'
import { isSubmodule, isWorktreeOf } from './save/nested.ts'
import { isTreePath } from '../files.ts'

/** The newest one. What is known of it is not asked for again while the ref stays. */
export async function readTip(context: RepositoryContext): Promise<CheckpointCommit | null> {
  const { tips } = context.cache
  const file = refFile(context)
  const known = tips.get(file)
  if (known !== undefined && readLooseRef(file) === known.commit) return known
  const commit = await readRefTarget(context)
  if (commit === null) return null
  const [raw] = await readCommits(context.git, [commit])
  if (!raw) throw new GitError('cat-file', { code: 1, stderr: `the newest checkpoint ${commit} is missing` })
  const tip = parseCheckpoint(raw)
  if (tip === null || !isOwnCheckpoint(context, tip)) return null
  cacheTip(context, tip)
  return tip
}

/** The commit that the ref leads to, whether it is there or not. */
export async function readRefTarget({ git, ref }: RepositoryContext): Promise<string | null> {
  const { stdout } = await git.tryRun(['rev-parse', '--verify', '--quiet', ref])
  return stdout.toString().trim() || null
}

/** Of one that we have just made. */
export function cacheTip(context: RepositoryContext, tip: CheckpointCommit): void {
  context.cache.tips.set(refFile(context), tip)
}

/** All of them, oldest first. */
export async function readHistory(context: RepositoryContext): Promise<CheckpointCommit[]> {
  const tip = await readTip(context)
  return tip === null ? [] : readHistoryUpTo(context, tip)
}

/** Thinning keeps far fewer. A longer one is not ours, and is read no further. */
const MAX_HISTORY = 5_000

/** The part of it that ends here. Where a commit is missing, it begins after that. */
export async function readHistoryUpTo(context: RepositoryContext, tip: CheckpointCommit): Promise<CheckpointCommit[]> {
  // No chain is longer than its last number. Beyond its beginning lies what HEAD was then, and all of its history.
  const limit = `--max-count=${Math.min(tip.trailers.number, MAX_HISTORY)}`
  const result = await context.git.tryRun(['rev-list', '--first-parent', limit, tip.commit, '--'])
  const checkpoints: CheckpointCommit[] = []
  for (const checkpoint of await readCommitsAs(
    context.git,
    result.stdout.toString().split('\n').slice(0, -1),
    parseCheckpoint,
  )) {
    const after = checkpoints.at(-1)
    if (!checkpoint || !isOwnCheckpoint(context, checkpoint)) break
    if (after !== undefined && checkpoint.trailers.number >= after.trailers.number) break
    checkpoints.push(checkpoint)
  }
  if (checkpoints.length === 0 || ![0, 128].includes(result.code ?? -1)) throw new GitError('rev-list', result)
  return checkpoints.reverse()
}

/** Whoever can write to a remote can let a ref lead to the checkpoint of another session. */
function isOwnCheckpoint({ sessionId, path }: RepositoryContext, { trailers }: CheckpointCommit): boolean {
  return trailers.sessionId === sessionId && trailers.path === path
}

/** Where the ref is, which has nearly always a file of its own: git packs refs once in a while, or keeps them otherwise. */
function refFile({ repository, ref }: RepositoryContext): string {
  return path.join(repository.commonDir, ref)
}

function readLooseRef(file: string): string | null {
  try {
    return fs.readFileSync(file, 'latin1').trim()
  } catch {
    return null // Then git is asked.
  }
}

/** What was written down with a checkpoint. */
export async function readRecord({ git }: RepositoryContext, commit: string): Promise<string> {
  const [raw] = await readCommits(git, [commit])
  if (!raw) throw new GitError('cat-file', { code: 1, stderr: `the checkpoint ${commit} cannot be read` })
  return parseRecord(raw.message.toString())
}

/** Those of the repository that git runs in, and what has kept them. */
export async function findSavedSessions(git: Git, name: string | undefined): Promise<SavedSession[]> {
  const found: SavedSession[] = []
  for (const [ref, link] of await readTips(git, name === undefined ? CHECKPOINT_REFS : `${CHECKPOINT_REFS}/${name}`)) {
    const { trailers, record } = link
    const owner = parseRef(ref)
    if (owner === null || owner.suffix !== '') continue
    const { name: whole, sessionId } = owner
    const { claim } = trailers
    const last = toCheckpoint(link)
    found.push({ name: whole, sessionId, last, record, ...(claim !== undefined && { claim }) })
  }
  return found.sort((one, other) => other.last.at - one.last.at)
}

interface SessionTip extends CheckpointCommit {
  /** What was written down with it. */
  readonly record: string
}

/** What the refs below this one lead to, as far as it is there and a checkpoint. */
async function readTips(git: Git, refs: string): Promise<Map<string, SessionTip>> {
  const output = await git.run(['for-each-ref', '--format=%(objectname) %(refname)', refs])
  const lines = output.toString().split('\n').slice(0, -1)
  const commits = lines.map(line => line.slice(0, line.indexOf(' ')))
  const found = await readCommitsAs(git, commits, parseTip)
  const tips = new Map<string, SessionTip>()
  for (const [at, line] of lines.entries()) {
    const tip = found[at] ?? null
    const ref = line.slice(line.indexOf(' ') + 1)
    if (tip !== null && isRefOf(ref, tip.trailers)) tips.set(ref, tip)
  }
  return tips
}

function parseTip(raw: RawCommit): SessionTip | null {
  const checkpoint = parseCheckpoint(raw)
  return checkpoint === null ? null : { ...checkpoint, record: parseRecord(raw.message.toString()) }
}

/** Whether a ref is called what one that leads to this checkpoint is called. */
export function isRefOf(ref: string, { sessionId, path }: CheckpointTrailers): boolean {
  const owner = parseRef(ref)
  return owner?.sessionId === sessionId && owner.suffix === (path === '' ? '' : nestedSuffix(path))
}

/** A checkpoint, maybe of another session. One that thinning has given another commit, and whose own is gone, by its number. */
export async function findCheckpoint(
  context: RepositoryContext,
  { number, commit }: Checkpoint,
): Promise<CheckpointCommit> {
  const { code } = await context.git.tryRun(['cat-file', '-e', `${commit}^{commit}`])
  const numbered =
    code === 0 ? undefined : (await readHistory(context)).find(({ trailers }) => trailers.number === number)
  return numbered ?? readCheckpoint(context, commit)
}

export async function readCheckpoint({ git }: RepositoryContext, commit: string): Promise<CheckpointCommit> {
  const [raw] = await readCommits(git, [commit])
  const checkpoint = raw ? parseCheckpoint(raw) : null
  if (checkpoint === null) throw new Trouble(`reading ${commit}`, 'it is not a checkpoint', { mayHelpToRetry: false })
  return checkpoint
}

/** What lies in a repository that is nested in this one, and was in the state that a checkpoint tells of. */
export interface NestedState {
  readonly context: RepositoryContext
  readonly commit: string
  readonly tree: string
  readonly head: string | null
}

/**
 * Null when its repository is not there any more, does not have that state, or is none that git may run in. The checkpoint may come
 * from a remote, so what it says of a repository does not count: that must be one which a checkpoint made here would save.
 */
export async function readNestedState(outer: RepositoryContext, nested: NestedRepository): Promise<NestedState | null> {
  if (nested.isHeadOnly) return null
  const place = await enterNested(outer, relativePath(outer, nested.path)).catch(() => null) // Nothing of it can be had.
  return place === null ? null : findNestedState(place, nested)
}

/** Also where it lies in a repository that lies in this one. */
async function enterNested(outer: RepositoryContext, path: RawPath): Promise<RepositoryContext | null> {
  if (!isTreePath(path)) return null
  if (outer.savesNested === true) return openNested(outer, path)
  for (const prefix of [...parentFolders(path), path]) {
    if (!isWorktreeOf(outer, prefix) && !(await isSubmodule(outer, prefix))) continue
    const place = await openNested(outer, prefix)
    return place === null || prefix === path ? place : enterNested(place, path.slice(prefix.length + 1))
  }
  return null
}

/** The same of a worktree that shared its repository with the outer one, and is gone: its checkpoints are still there. */
export async function readSharedNestedState(
  outer: RepositoryContext,
  nested: NestedRepository,
): Promise<NestedState | null> {
  return nested.isHeadOnly
    ? null
    : findNestedState({ ...outer, ref: nestedRef(outer, nested.path), path: nested.path }, nested)
}

async function findNestedState(context: RepositoryContext, { state }: NestedRepository): Promise<NestedState | null> {
  if (typeof state === 'number') {
    const checkpoint = (await readHistory(context)).find(({ trailers }) => trailers.number === state)
    return checkpoint === undefined
      ? null
      : { context, commit: checkpoint.commit, tree: checkpoint.tree, head: checkpoint.trailers.head }
  }
  const tree = await context.git.tryRun(['rev-parse', '--verify', '--quiet', `${state}^{tree}`])
  return tree.code === 0 ? { context, commit: state, tree: tree.stdout.toString().trim(), head: state } : null
}

function relativePath(outer: RepositoryContext, path: RawPath): RawPath {
  return outer.path === '' ? path : path.slice(outer.path.length + 1)
}
