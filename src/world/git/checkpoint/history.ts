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
} from './read-commits.ts'
import {
  CHECKPOINT_REFS,
  type RepositoryContext,
  nestedRef,
  nestedSuffix,
  openNested,
  parseRef,
} from '../repository-context.ts'
import { type ObjectId, objectId } from '../../../core/checkpoint/object-id.ts'
import type { Checkpoint } from '../../../core/checkpoint/checkpoint.ts'
import { type RawPath, parentFolders } from '../../../lib/text/raw-path.ts'
import { Trouble } from '../../../lib/errors.ts'
import type { SavedSession } from '../../../ports/checkpoints.ts'
import type { Git } from '../git.ts'
import { type CheckpointTrailers, type NestedRepository, parseRecord } from './commit-message.ts'
import { isSubmodule, isWorktreeOf } from './save/nested-repositories.ts'
import { readRegularFile } from '../../../os/files/file-io.ts'
import { isTreePath } from '../is-safe-tree-path.ts'
import { lstat } from '../../../os/files/lstat-if-exists.ts'

/** Returns the newest checkpoint, from the cache as long as the ref does not change. */
export async function readTip(context: RepositoryContext): Promise<CheckpointCommit | null> {
  const { tips } = context.cache
  const file = refFile(context)
  const known = tips.get(file)
  if (known !== undefined && readLooseRef(file) === known.commit) return known
  if (isRefMissing(context)) return null
  const commit = await readRefTarget(context)
  if (commit === null) return null
  const [raw] = await readCommits(context.git, [commit])
  if (!raw) throw new GitError('cat-file', { code: 1, stderr: `the newest checkpoint ${commit} is missing` })
  const tip = parseCheckpoint(raw)
  if (tip === null || !isOwnCheckpoint(context, tip)) return null
  cacheTip(context, tip)
  return tip
}

/** Returns the commit id in the ref, even if that commit is missing. */
export async function readRefTarget({ git, ref }: RepositoryContext): Promise<ObjectId | null> {
  const { stdout } = await git.tryRun(['rev-parse', '--verify', '--quiet', ref])
  const target = stdout.toString().trim()
  return target === '' ? null : objectId(target)
}

/** Caches a checkpoint that we have just created. */
export function cacheTip(context: RepositoryContext, tip: CheckpointCommit): void {
  context.cache.tips.set(refFile(context), tip)
}

/** Returns all checkpoints, oldest first. */
export async function readHistory(context: RepositoryContext): Promise<CheckpointCommit[]> {
  const tip = await readTip(context)
  return tip === null ? [] : readHistoryUpTo(context, tip)
}

/** Pruning keeps far fewer. Another program wrote a longer history, and the reader stops here. */
const MAX_HISTORY = 5_000

/** Returns the history up to this checkpoint. A missing commit ends the walk, and the history starts after it. */
export async function readHistoryUpTo(context: RepositoryContext, tip: CheckpointCommit): Promise<CheckpointCommit[]> {
  // A chain has at most as many commits as its last number. The first checkpoint's parent is the HEAD of that time,
  // with its whole history.
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

/** Anybody with write access to a remote can point a ref at the checkpoint of another session. */
function isOwnCheckpoint({ sessionId, path }: RepositoryContext, { trailers }: CheckpointCommit): boolean {
  return trailers.sessionId === sessionId && trailers.path === path
}

/** Returns the ref's own file. It nearly always exists; git packs refs sometimes, or uses another storage format. */
function refFile({ repository, ref }: RepositoryContext): string {
  return path.join(repository.commonDir, ref)
}

function readLooseRef(file: string): string | null {
  try {
    return fs.readFileSync(file, 'latin1').trim()
  } catch {
    return null // The caller asks git instead.
  }
}

/** Bytes; we do not search a longer list of refs. */
const MAX_PACKED_REFS_SIZE = 4 * 1_048_576

/**
 * Returns true if the ref certainly does not exist. git writes a ref into the list before it removes the ref's file, so
 * we look at the file first.
 */
function isRefMissing({ repository, ref }: RepositoryContext): boolean {
  const { commonDir } = repository
  if (lstat(path.join(commonDir, ref)) !== undefined || lstat(path.join(commonDir, 'reftable')) !== undefined)
    return false
  const packed = path.join(commonDir, 'packed-refs')
  if (lstat(packed) === undefined) return true
  try {
    return !readRegularFile(packed, MAX_PACKED_REFS_SIZE).content.includes(` ${ref}\n`)
  } catch {
    return false // git reads it.
  }
}

/** Returns the record that a checkpoint stores. */
export async function readRecord({ git }: RepositoryContext, commit: string): Promise<string> {
  const [raw] = await readCommits(git, [commit])
  if (!raw) throw new GitError('cat-file', { code: 1, stderr: `the checkpoint ${commit} cannot be read` })
  return parseRecord(raw.message.toString())
}

/** Returns the sessions with checkpoints in the current repository. */
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
  /** The record that the checkpoint stores. */
  readonly record: string
}

/** Returns the targets of all refs below this one that exist and are checkpoints. */
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

/** Returns true if the ref has the name that a ref to this checkpoint must have. */
export function isRefOf(ref: string, { sessionId, path }: CheckpointTrailers): boolean {
  const owner = parseRef(ref)
  return owner?.sessionId === sessionId && owner.suffix === (path === '' ? '' : nestedSuffix(path))
}

/**
 * Finds a checkpoint, possibly of another session. Pruning gives checkpoints new commits; if the old commit is missing,
 * the number identifies the checkpoint.
 */
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

/** The state of a nested repository that a checkpoint names. */
export interface NestedState {
  readonly context: RepositoryContext
  readonly commit: string
  readonly tree: string
  readonly head: string | null
}

/**
 * Returns null if the repository is missing, lacks that state, or is one in which git must not run. The checkpoint may
 * come from a remote, so we do not trust its list: we only enter a repository that a local checkpoint would save.
 */
export async function readNestedState(outer: RepositoryContext, nested: NestedRepository): Promise<NestedState | null> {
  if (nested.isHeadOnly) return null
  // We can read nothing of it.
  const place = await enterNested(outer, relativePath(outer, nested.path)).catch(() => null)
  return place === null ? null : findNestedState(place, nested)
}

/** Also enters a repository that lies in another nested repository. */
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

/**
 * Reads the state of a removed worktree that shared its repository with the outer one: the repository still has its
 * checkpoints.
 */
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
