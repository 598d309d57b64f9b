import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { Trouble } from '../../lib/trouble.ts'
import { replaceFile } from '../os/files.ts'
import type { Git } from './git.ts'
import { GitFailed } from './git-failed.ts'
import { goalSuffix, isGoal } from './goal.ts'
import { ownerOf, type Place, REFS } from './place.ts'
import { readFromRemote } from './read-remote.ts'
import { isTipOf } from './read.ts'
import { linkIn, readCommits } from './read-commits.ts'
import { addressOf } from './remote-url.ts'
import { ALIAS, type Channel, named, refsOn, speak } from './speak.ts'

const PUSH = ['push', '--quiet', '--no-verify', '--no-signed', '--no-follow-tags', '--recurse-submodules=no'] as const

/** By refs of the remote: what each led to when we last saw it, and what we have tried to put there since. */
type Notes = Readonly<Record<string, readonly string[]>>

/** Refs of the remote, and what they shall lead to. */
type Wanted = Readonly<Record<string, string>>

/** What a remote has, and a ref of it that is not ours where one of ours belongs. */
interface Stock {
  readonly seen: Notes
  readonly obstacle: string | null
}

/**
 * Brings the refs of a session to a remote, each in the place of what we last put there and of nothing else: a session that
 * somebody else continues is left to them. Where something lies in the way that belongs to no session, the refs get another
 * name there; answers a sentence about that, when it happens.
 */
export async function push(place: Place, remote: string, env: Channel['env']): Promise<string | null> {
  const channel = { remote, env, url: addressOf(place, remote) }
  const own = await refsOf(place.git, place.ref)
  // Told nothing, git would push the user's branch.
  if (Object.keys(own).length === 0) return null
  const obstacle = await tryPush(place, channel, under(readName(place, remote), own))
  if (obstacle === null) return null
  const name = `${(place.ref.split('/')[2] ?? '').slice(0, 90)}-${crypto.randomBytes(2).toString('hex')}`
  const why = `${obstacle} on ${named(remote)} belongs to no session and is in the way`
  const remedy = `to remove it: git push ${named(remote)} --delete ${obstacle}`
  const other = obstacle === REFS ? obstacle : await tryPush(place, channel, under(name, own))
  if (other !== null) throw new Trouble(doingIn(channel), `${why}; ${remedy}`, { mayHelpToRetry: false })
  writeName(place, remote, name)
  return `${why}: checkpoints are pushed as ${Object.keys(under(name, { [place.ref]: '' }))[0]}; ${remedy}`
}

/** The same refs, with another name of the session. */
function under(name: string | null, refs: Wanted): Wanted {
  if (name === null) return refs
  return Object.fromEntries(
    Object.entries(refs).map(([ref, commit]) => [`${REFS}/${name}/${ref.split('/')[3]}`, commit] as const),
  )
}

/** Answers what lies in the way, or null when all refs are there. */
async function tryPush(place: Place, channel: Channel, refs: Wanted): Promise<string | null> {
  const known = readNotes(place, channel.remote)
  const isKnown = known !== null && Object.keys(known).some(ref => ref in refs)
  const stock: Stock = isKnown ? { seen: known, obstacle: null } : await takeStock(place, channel, refs, {})
  const { seen, obstacle } = stock
  if (obstacle !== null) return obstacle
  try {
    await pushWith(place, channel, refs, seen)
  } catch (cause) {
    if (!isRejected(cause)) throw cause
    // What we have tried may have arrived without our hearing of it, or the remote was made anew.
    const now = await takeStock(place, channel, refs, readNotes(place, channel.remote) ?? {})
    if (now.obstacle !== null) return now.obstacle
    if (Object.keys(refs).every(name => (now.seen[name]?.[0] ?? '') === (seen[name]?.[0] ?? ''))) throw cause
    await pushWith(place, channel, refs, now.seen)
  }
  return null
}

function isRejected(cause: unknown): boolean {
  return cause instanceof Trouble && cause.cause instanceof GitFailed && /rejected|stale info/.test(cause.cause.stderr)
}

function doingIn({ remote }: Channel): string {
  return `pushing to ${named(remote)}`
}

async function pushWith(place: Place, channel: Channel, refs: Wanted, seen: Notes): Promise<void> {
  const { remote } = channel
  const names = Object.keys(refs)
  const tried = names.map(name => [name, [...(seen[name] ?? ['']), refs[name] ?? ''].slice(-20)] as const)
  writeNotes(place, remote, Object.fromEntries(tried))
  const leases = names.map(name => leaseOn(name, seen[name]?.[0] ?? ''))
  const words = [...PUSH, ...leases, '--', ALIAS, ...names.map(name => `${refs[name]}:${name}`)]
  await speak(place.git, channel, doingIn(channel), words)
  writeNotes(place, remote, Object.fromEntries(names.map(name => [name, [refs[name] ?? '']])))
}

/** An empty one stands for no such ref. */
function leaseOn(ref: string, expected: string): string {
  return `--force-with-lease=${ref}:${expected}`
}

/** Puts one commit under one ref of a remote, in the place of another one. */
export async function pushOne(
  git: Git,
  channel: Channel,
  { ref, commit, before }: { ref: string; commit: string; before: string },
): Promise<void> {
  const words = [...PUSH, leaseOn(ref, before), '--', ALIAS, `${commit}:${ref}`]
  await speak(git, channel, doingIn(channel), words)
}

/** Throws where the remote has checkpoints of the session that we have not put there. */
async function takeStock(place: Place, channel: Channel, refs: Wanted, known: Notes): Promise<Stock> {
  const names = Object.keys(refs)
  const [ref = ''] = names[0]?.split('+') ?? []
  const patterns = [REFS, ref.split('/').slice(0, 3).join('/'), `${ref}*`]
  const there = await refsOn(place.git, channel, { patterns, doing: doingIn(channel) })
  for (const [found, commit] of there) {
    const isFolder = names.some(name => name.startsWith(`${found}/`) || found.startsWith(`${name}/`))
    if (isFolder) return { seen: {}, obstacle: found }
    if (!names.includes(found) || known[found]?.includes(commit) === true || (await isOurs(place, commit))) continue
    await refuseUnlessJunk(place, channel, found)
    return { seen: {}, obstacle: found }
  }
  return { seen: Object.fromEntries([...there].map(([found, commit]) => [found, [commit]])), obstacle: null }
}

/** We have each commit that we have made, unless git has cleared it away; the claim of somebody else is none of these. */
async function isOurs({ git }: Place, commit: string): Promise<boolean> {
  const { code } = await git.ask(['cat-file', '-e', `${commit}^{commit}`])
  const [raw] = code === 0 ? await readCommits(git, [commit]) : []
  return raw !== undefined && raw !== null && linkIn(raw)?.telling.claim === undefined
}

/** A claim, or a checkpoint that another machine has made of this very session, is left alone. */
async function refuseUnlessJunk(place: Place, channel: Channel, ref: string): Promise<void> {
  const raw = await readFromRemote(place, channel, ref)
  const link = raw === null ? null : linkIn(raw)
  const isTip = link !== null && link.telling.sessionId === place.sessionId && isTipOf(ref, link.telling)
  const isMessages = raw !== null && ownerOf(ref)?.suffix === goalSuffix && isGoal(raw, place.sessionId)
  if (!isTip && !isMessages) return
  const { claim } = link?.telling ?? {}
  const { remote } = channel
  const why =
    claim === undefined
      ? `somebody else changed ${ref} there; to replace it: git push ${named(remote)} --delete ${ref}`
      : `${claim.host} continues this session as ${claim.sessionId}; to end it here: oneshot stop ${place.ref.split('/')[2]}`
  throw new Trouble(doingIn(channel), why, { mayHelpToRetry: false })
}

async function refsOf(git: Git, ref: string): Promise<Record<string, string>> {
  const said = await git.run(['for-each-ref', '--format=%(refname) %(objectname)', ref, `${ref}+*`])
  const lines = said.toString().split('\n').slice(0, -1)
  return Object.fromEntries(lines.map(line => line.split(' ') as [string, string]))
}

/** Named by a hash: an address may hold a password. */
function notesFile({ folder }: Place, remote: string, kind: 'pushed' | 'name-on' = 'pushed'): string {
  return path.join(folder, `${kind}-${crypto.createHash('sha256').update(remote).digest('hex').slice(0, 16)}`)
}

/** The name that the session has on this remote; null for its own. */
function readName(place: Place, remote: string): string | null {
  try {
    return fs.readFileSync(notesFile(place, remote, 'name-on'), 'utf8')
  } catch {
    return null // Nothing was in the way so far.
  }
}

function writeName(place: Place, remote: string, name: string): void {
  replaceFile(notesFile(place, remote, 'name-on'), name)
}

function readNotes(place: Place, remote: string): Notes | null {
  try {
    return JSON.parse(fs.readFileSync(notesFile(place, remote), 'utf8')) as Notes
  } catch {
    return null // Then the remote is asked.
  }
}

function writeNotes(place: Place, remote: string, notes: Notes): void {
  fs.mkdirSync(place.folder, { recursive: true, mode: 0o700 })
  replaceFile(notesFile(place, remote), JSON.stringify(notes))
}
