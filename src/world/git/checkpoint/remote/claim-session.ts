import { type ObjectId, objectId } from '../../../../core/checkpoint/object-id.ts'
import { EMPTY_DIFF } from '../../../../core/checkpoint/checkpoint.ts'
import type { SessionId } from '../../../../core/session/session-id-and-name.ts'
import { isRefusal, Refusal } from '../../../../lib/errors.ts'
import { Trouble } from '../../../../lib/errors.ts'
import type { ClaimRequest } from '../../../../ports/checkpoints.ts'
import { readTip } from '../history.ts'
import { ONESHOT_IDENTITY } from '../../repository.ts'
import type { CheckpointCommit } from '../read-commits.ts'
import { sanitizeHostName, formatMessage } from '../commit-message.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { pushRef } from './push.ts'
import { parseCheckpoint } from '../read-commits.ts'
import { readRemoteCommit } from './fetch.ts'
import { readRecord } from '../history.ts'
import { isAncestor } from './fetch.ts'
import { pushUrl } from './remote-url.ts'
import { type RemoteConnection, displayName, listRemoteRefs } from './connection.ts'
import { updateRef } from '../../update-ref.ts'

/**
 * Claims a session on a remote: it replaces the newest checkpoint by one more commit, which only one machine can do.
 * The machine that pushed the session so far can then no longer push it. Returns a function that gives the claim back.
 */
export async function claimSession(context: RepositoryContext, request: ClaimRequest): Promise<() => Promise<void>> {
  const { git, ref } = context
  const { remote, env } = request
  const connection = { remote, env, url: pushUrl(context, remote) }
  const tip = await readTip(context)
  const there = (await listRemoteRefs(git, connection, { patterns: [ref] })).get(ref)
  if (tip === null || !(await isBehind(context, there, tip.commit))) throw await changedRefusal(context, connection)
  const { claim: other } = tip.trailers
  if (other !== undefined && !request.isTakeOver) throw claimedRefusal(ref, remote, other)
  const commit = await commitClaim(context, tip, request)
  try {
    await pushRef(git, connection, { ref, commit, before: there ?? '' })
  } catch (cause) {
    const now = (await listRemoteRefs(git, connection, { patterns: [ref] })).get(ref)
    if (now !== there && now !== commit) throw await changedRefusal(context, connection)
    if (now !== commit) throw isRefusal(cause) ? cause : unableRefusal(context, remote, cause)
  }
  await updateRef(context, commit, tip.commit)
  return async () => {
    await pushRef(git, connection, { ref, commit: tip.commit, before: commit })
    await updateRef(context, tip.commit, commit)
  }
}

/** Returns true if the remote has our tip, an ancestor of it, or nothing. */
async function isBehind({ git }: RepositoryContext, there: string | undefined, tip: string): Promise<boolean> {
  return there === undefined || there === tip || isAncestor(git, there, tip)
}

async function commitClaim(
  context: RepositoryContext,
  { commit, tree, trailers }: CheckpointCommit,
  request: ClaimRequest,
): Promise<ObjectId> {
  const { git } = context
  const { at, sessionId, host } = request
  const claimed = { term: (trailers.claim?.term ?? 1) + 1, sessionId, host: sanitizeHostName(host) }
  const news = { number: trailers.number + 1, at, trigger: 'start', change: EMPTY_DIFF, claim: claimed } as const
  const input = formatMessage({ ...trailers, ...news }, await readRecord(context, commit))
  const parents = [commit, trailers.head].flatMap(parent => (parent === null ? [] : ['-p', parent]))
  return objectId(await git.runForLine(['commit-tree', ...parents, tree], { input, env: ONESHOT_IDENTITY }))
}

/** Says which session continues a session that this machine cannot continue. */
function claimedRefusal(
  ref: string,
  remote: string,
  { sessionId, host }: { sessionId: SessionId; host: string },
): Refusal {
  const [, , name = '', id = ''] = ref.split('/')
  return new Refusal(
    'session-claimed',
    `${name} is continued on ${host}, as session ${sessionId}`,
    `if that machine is lost: oneshot resume ${id} --from ${displayName(remote)} --take-over`,
  )
}

/** Another machine was faster. The remote may say which one. */
async function changedRefusal(context: RepositoryContext, connection: RemoteConnection): Promise<Refusal> {
  const { ref, sessionId } = context
  // The remote ref may be missing by now.
  const raw = await readRemoteCommit(context, connection, ref).catch(() => null)
  const { claim, sessionId: owner } = (raw === null ? null : parseCheckpoint(raw))?.trailers ?? {}
  if (claim !== undefined && owner === sessionId) return claimedRefusal(ref, connection.remote, claim)
  return new Refusal(
    'session-claimed',
    `it has changed on ${displayName(connection.remote)} just now`,
    'try again, and see who continues it',
  )
}

function unableRefusal({ ref }: RepositoryContext, remote: string, cause: unknown): Refusal {
  const why = cause instanceof Trouble ? cause.message : String(cause)
  const name = ref.split('/')[2] ?? ''
  return new Refusal(
    'cannot-restore',
    `${name} cannot be claimed on ${displayName(remote)}: ${why}`,
    `to continue it without the remote: oneshot resume ${name}`,
  )
}
