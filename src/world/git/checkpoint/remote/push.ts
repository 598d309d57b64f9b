import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { isObjectId } from '../../../../core/checkpoint/object-id.ts'
import { listOf, mapOf, type Parser, stringThat } from '../../../../lib/codec.ts'
import { Trouble } from '../../../../lib/errors.ts'
import { replaceFile } from '../../../../os/files/file-io.ts'
import { readJsonCache } from '../../../../os/files/json-file.ts'
import type { Git } from '../../git.ts'
import { GitError } from '../../git-error.ts'
import { goalSuffix, isGoalCommit } from '../messages-ref.ts'
import { parseRef, type RepositoryContext, CHECKPOINT_REFS } from '../../repository-context.ts'
import { readRemoteCommit } from './fetch.ts'
import { isRefOf } from '../history.ts'
import { parseCheckpoint, readCommits } from '../read-commits.ts'
import { pushUrl } from './remote-url.ts'
import { REMOTE_PLACEHOLDER, type RemoteConnection, displayName, listRemoteRefs, runOnRemote } from './connection.ts'

const PUSH_COMMAND = [
  'push',
  '--quiet',
  '--no-verify',
  '--no-signed',
  '--no-follow-tags',
  '--recurse-submodules=no',
] as const

/** For each ref of the remote: its target when we last saw it, then the targets that we have tried to push since. */
type KnownRefs = Readonly<Record<string, readonly string[]>>

/** Refs of the remote with the targets that they should get. */
type RefTargets = Readonly<Record<string, string>>

/** The refs of a remote, and a foreign ref in the place of one of ours. */
interface RemoteState {
  readonly seen: KnownRefs
  readonly blockingRef: string | null
}

/**
 * Pushes the refs of a session. Each push replaces only the target that we pushed last: if another machine continues
 * the session, we do not overwrite it. If a foreign ref blocks the name, we push under another name and return a
 * sentence about that.
 */
export async function push(
  context: RepositoryContext,
  remote: string,
  env: RemoteConnection['env'],
): Promise<string | null> {
  const connection = { remote, env, url: pushUrl(context, remote) }
  const own = await readSessionRefs(context.git, context.ref)
  // Without a refspec, git would push the user's branch.
  if (Object.keys(own).length === 0) return null
  const blockingRef = await tryPush(context, connection, withSessionName(readRemoteName(context, remote), own))
  if (blockingRef === null) return null
  const name = `${(context.ref.split('/')[2] ?? '').slice(0, 90)}-${crypto.randomBytes(2).toString('hex')}`
  const why = `${blockingRef} on ${displayName(remote)} belongs to no session and is in the way`
  const remedy = `to remove it: git push ${displayName(remote)} --delete ${blockingRef}`
  const other =
    blockingRef === CHECKPOINT_REFS ? blockingRef : await tryPush(context, connection, withSessionName(name, own))
  if (other !== null) throw new Trouble(describePush(connection), `${why}; ${remedy}`, { mayHelpToRetry: false })
  writeRemoteName(context, remote, name)
  return `${why}: checkpoints are pushed as ${Object.keys(withSessionName(name, { [context.ref]: '' }))[0]}; ${remedy}`
}

/** Returns the same refs with another session name. */
function withSessionName(name: string | null, refs: RefTargets): RefTargets {
  if (name === null) return refs
  return Object.fromEntries(
    Object.entries(refs).map(([ref, commit]) => [`${CHECKPOINT_REFS}/${name}/${ref.split('/')[3]}`, commit] as const),
  )
}

/** Returns the ref that blocks the push, or null if all refs arrived. */
async function tryPush(
  context: RepositoryContext,
  connection: RemoteConnection,
  refs: RefTargets,
): Promise<string | null> {
  const known = readKnownRefs(context, connection.remote)
  const isKnown = known !== null && Object.keys(known).some(ref => ref in refs)
  const state: RemoteState = isKnown
    ? { seen: known, blockingRef: null }
    : await readRemoteState(context, connection, refs, {})
  const { seen, blockingRef } = state
  if (blockingRef !== null) return blockingRef
  try {
    await pushRefs(context, connection, refs, seen)
  } catch (cause) {
    if (!isRejected(cause)) throw cause
    // An earlier push may have arrived without our knowing, or somebody has recreated the remote.
    const now = await readRemoteState(context, connection, refs, readKnownRefs(context, connection.remote) ?? {})
    if (now.blockingRef !== null) return now.blockingRef
    if (Object.keys(refs).every(name => (now.seen[name]?.[0] ?? '') === (seen[name]?.[0] ?? ''))) throw cause
    await pushRefs(context, connection, refs, now.seen)
  }
  return null
}

function isRejected(cause: unknown): boolean {
  return cause instanceof Trouble && cause.cause instanceof GitError && /rejected|stale info/.test(cause.cause.stderr)
}

function describePush({ remote }: RemoteConnection): string {
  return `pushing to ${displayName(remote)}`
}

async function pushRefs(
  context: RepositoryContext,
  connection: RemoteConnection,
  refs: RefTargets,
  seen: KnownRefs,
): Promise<void> {
  const { remote } = connection
  const names = Object.keys(refs)
  const tried = names.map(name => [name, [...(seen[name] ?? ['']), refs[name] ?? ''].slice(-20)] as const)
  writeKnownRefs(context, remote, Object.fromEntries(tried))
  const leases = names.map(name => leaseOption(name, seen[name]?.[0] ?? ''))
  const words = [...PUSH_COMMAND, ...leases, '--', REMOTE_PLACEHOLDER, ...names.map(name => `${refs[name]}:${name}`)]
  await runOnRemote(context.git, connection, describePush(connection), words)
  writeKnownRefs(context, remote, Object.fromEntries(names.map(name => [name, [refs[name] ?? '']])))
}

/** An empty value means that the ref must not exist. */
function leaseOption(ref: string, expected: string): string {
  return `--force-with-lease=${ref}:${expected}`
}

/** Replaces the target of one remote ref. */
export async function pushRef(
  git: Git,
  connection: RemoteConnection,
  { ref, commit, before }: { ref: string; commit: string; before: string },
): Promise<void> {
  const words = [...PUSH_COMMAND, leaseOption(ref, before), '--', REMOTE_PLACEHOLDER, `${commit}:${ref}`]
  await runOnRemote(git, connection, describePush(connection), words)
}

/** Throws if the remote has checkpoints of the session that we did not push. */
async function readRemoteState(
  context: RepositoryContext,
  connection: RemoteConnection,
  refs: RefTargets,
  known: KnownRefs,
): Promise<RemoteState> {
  const names = Object.keys(refs)
  const [ref = ''] = names[0]?.split('+') ?? []
  const patterns = [CHECKPOINT_REFS, ref.split('/').slice(0, 3).join('/'), `${ref}*`]
  const there = await listRemoteRefs(context.git, connection, { patterns, doing: describePush(connection) })
  for (const [found, commit] of there) {
    const isFolder = names.some(name => name.startsWith(`${found}/`) || found.startsWith(`${name}/`))
    if (isFolder) return { seen: {}, blockingRef: found }
    if (!names.includes(found) || known[found]?.includes(commit) === true || (await isOwnCommit(context, commit)))
      continue
    await assertUnclaimed(context, connection, found)
    return { seen: {}, blockingRef: found }
  }
  return { seen: Object.fromEntries([...there].map(([found, commit]) => [found, [commit]])), blockingRef: null }
}

/** We still have every commit that we created, unless git has pruned it; another machine's claim is not one of them. */
async function isOwnCommit({ git }: RepositoryContext, commit: string): Promise<boolean> {
  const { code } = await git.tryRun(['cat-file', '-e', `${commit}^{commit}`])
  const [raw] = code === 0 ? await readCommits(git, [commit]) : []
  return raw !== undefined && raw !== null && parseCheckpoint(raw)?.trailers.claim === undefined
}

/** Throws if the ref holds a claim, or a checkpoint that another machine made of this session. */
async function assertUnclaimed(context: RepositoryContext, connection: RemoteConnection, ref: string): Promise<void> {
  const raw = await readRemoteCommit(context, connection, ref)
  const checkpoint = raw === null ? null : parseCheckpoint(raw)
  const isTip =
    checkpoint !== null && checkpoint.trailers.sessionId === context.sessionId && isRefOf(ref, checkpoint.trailers)
  const isMessages = raw !== null && parseRef(ref)?.suffix === goalSuffix && isGoalCommit(raw, context.sessionId)
  if (!isTip && !isMessages) return
  const { claim } = checkpoint?.trailers ?? {}
  const { remote } = connection
  const why =
    claim === undefined
      ? `somebody else changed ${ref} there; to replace it: git push ${displayName(remote)} --delete ${ref}`
      : `${claim.host} continues this session as ${claim.sessionId}; to end it here: oneshot stop ${context.ref.split('/')[2]}`
  throw new Trouble(describePush(connection), why, { mayHelpToRetry: false })
}

async function readSessionRefs(git: Git, ref: string): Promise<Record<string, string>> {
  const output = await git.run(['for-each-ref', '--format=%(refname) %(objectname)', ref, `${ref}+*`])
  const lines = output.toString().split('\n').slice(0, -1)
  return Object.fromEntries(lines.map(line => line.split(' ') as [string, string]))
}

/** The file name is a hash, because an address may contain a password. */
function stateFile({ folder }: RepositoryContext, remote: string, kind: 'pushed' | 'name-on' = 'pushed'): string {
  return path.join(folder, `${kind}-${crypto.createHash('sha256').update(remote).digest('hex').slice(0, 16)}`)
}

/** Returns the session's name on this remote, or null if it has its own name there. */
function readRemoteName(context: RepositoryContext, remote: string): string | null {
  try {
    return fs.readFileSync(stateFile(context, remote, 'name-on'), 'utf8')
  } catch {
    return null // No foreign ref has blocked the name so far.
  }
}

function writeRemoteName(context: RepositoryContext, remote: string, name: string): void {
  replaceFile(stateFile(context, remote, 'name-on'), name)
}

/** Returns null without a readable file: then the caller asks the remote instead. */
function readKnownRefs(context: RepositoryContext, remote: string): KnownRefs | null {
  return readJsonCache(stateFile(context, remote), parseKnownRefs, MAX_STATE_SIZE)
}

/** An empty target means that the ref did not exist. */
const parseKnownRefs: Parser<KnownRefs> = mapOf(listOf(stringThat(text => text === '' || isObjectId(text))))

/** Bytes; a session has a handful of refs on a remote. */
const MAX_STATE_SIZE = 1_048_576

function writeKnownRefs(context: RepositoryContext, remote: string, notes: KnownRefs): void {
  fs.mkdirSync(context.folder, { recursive: true, mode: 0o700 })
  replaceFile(stateFile(context, remote), JSON.stringify(notes))
}
