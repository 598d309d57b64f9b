import { NO_CHANGE } from '../../core/checkpoint.ts'
import { isRefusal, Refusal } from '../../lib/refusal.ts'
import { Trouble } from '../../lib/trouble.ts'
import type { ClaimWish } from '../../ports/checkpoints.ts'
import { tipOf } from './chain.ts'
import { OURS } from './identity.ts'
import type { Link } from './link.ts'
import { hostName, writeMessage } from './message.ts'
import type { Place } from './place.ts'
import { pushOne } from './push.ts'
import { linkIn } from './read-commits.ts'
import { readFromRemote } from './read-remote.ts'
import { readRecordOf } from './read.ts'
import { isAncestor } from './remote.ts'
import { addressOf } from './remote-url.ts'
import { type Channel, named, refsOn } from './speak.ts'
import { moveRef } from './ref.ts'

/**
 * Claims a session on a remote: one more commit in the place of its newest checkpoint, which only one machine can put there.
 * Whoever has pushed the session so far cannot push it any more. Answers how to give the claim back.
 */
export async function claim(place: Place, wish: ClaimWish): Promise<() => Promise<void>> {
  const { git, ref } = place
  const { remote, env } = wish
  const channel = { remote, env, url: addressOf(place, remote) }
  const tip = await tipOf(place)
  const there = (await refsOn(git, channel, { patterns: [ref] })).get(ref)
  if (tip === null || !(await isBehind(place, there, tip.commit))) throw await changed(place, channel)
  const { claim: other } = tip.telling
  if (other !== undefined && !wish.isTakeOver) throw claimed(ref, remote, other)
  const commit = await commitClaim(place, tip, wish)
  try {
    await pushOne(git, channel, { ref, commit, before: there ?? '' })
  } catch (cause) {
    const now = (await refsOn(git, channel, { patterns: [ref] })).get(ref)
    if (now !== there && now !== commit) throw await changed(place, channel)
    if (now !== commit) throw isRefusal(cause) ? cause : unable(place, remote, cause)
  }
  await moveRef(place, commit, tip.commit)
  return async () => {
    await pushOne(git, channel, { ref, commit: tip.commit, before: commit })
    await moveRef(place, tip.commit, commit)
  }
}

/** Whether the remote has what is here, or what came before it; it may have nothing at all. */
async function isBehind({ git }: Place, there: string | undefined, tip: string): Promise<boolean> {
  return there === undefined || there === tip || isAncestor(git, there, tip)
}

async function commitClaim(place: Place, { commit, tree, telling }: Link, wish: ClaimWish): Promise<string> {
  const { git } = place
  const { at, sessionId, host } = wish
  const claimed = { term: (telling.claim?.term ?? 1) + 1, sessionId, host: hostName(host) }
  const news = { number: telling.number + 1, at, trigger: 'start', change: NO_CHANGE, claim: claimed } as const
  const input = writeMessage({ ...telling, ...news }, await readRecordOf(place, commit))
  const parents = [commit, telling.head].flatMap(parent => (parent === null ? [] : ['-p', parent]))
  return git.line(['commit-tree', ...parents, tree], { input, env: OURS })
}

/** Who continues a session that cannot be continued here. */
function claimed(ref: string, remote: string, { sessionId, host }: { sessionId: string; host: string }): Refusal {
  const [, , name = '', id = ''] = ref.split('/')
  return new Refusal(
    'session-claimed',
    `${name} is continued on ${host}, as session ${sessionId}`,
    `if that machine is lost: oneshot resume ${id} --from ${named(remote)} --take-over`,
  )
}

/** Somebody was faster. The remote may say who. */
async function changed(place: Place, channel: Channel): Promise<Refusal> {
  const { ref, sessionId } = place
  const raw = await readFromRemote(place, channel, ref).catch(() => null) // It may be gone by now.
  const { claim, sessionId: whose } = (raw === null ? null : linkIn(raw))?.telling ?? {}
  if (claim !== undefined && whose === sessionId) return claimed(ref, channel.remote, claim)
  return new Refusal(
    'session-claimed',
    `it has changed on ${named(channel.remote)} just now`,
    'try again, and see who continues it',
  )
}

function unable({ ref }: Place, remote: string, cause: unknown): Refusal {
  const why = cause instanceof Trouble ? cause.message : String(cause)
  const name = ref.split('/')[2] ?? ''
  return new Refusal(
    'cannot-restore',
    `${name} cannot be claimed on ${named(remote)}: ${why}`,
    `to continue it without the remote: oneshot resume ${name}`,
  )
}
