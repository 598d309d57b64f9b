import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { below, bytesOf, joinRaw, shown } from '../../../../lib/raw-path.ts'
import { unlinkBelow } from '../../../os/remove-tree.ts'
import { headOf } from '../../head.ts'
import { lstat } from '../../lstat.ts'
import type { Place } from '../../place.ts'
import { lookNow } from '../look-now.ts'
import { type Landing, landingIn, refuse } from '../notes.ts'
import { changesOf, type Entry } from '../tree-without.ts'

/** Milliseconds after which a lock, made while we were at it, is taken for that of our git, which is gone. */
const STALE = 5_000
const LOOK_AGAIN = 50

/**
 * Takes back what a killed call has done to the user's files. All of them were as HEAD has them before it. What does not look
 * like a piece of what was to be written there was changed by the user since, and stays, with all the rest.
 */
export async function takeBack(place: Place, doing: string): Promise<void> {
  const note = landingIn(place)
  const begun = note.read()
  if (begun === null) return
  const isMoved = (await headOf(place)) !== begun.head
  await removeOwnLocks(place, begun, isMoved)
  if (!isMoved) await undo(place, begun, doing)
  note.drop()
}

async function undo(place: Place, { head, target }: Landing, doing: string): Promise<void> {
  const { git, repository } = place
  const moving = await changesOf(place, head, target)
  const { tree } = await lookNow(place)
  const changed = new Map((await changesOf(place, head, tree)).map(entry => [entry.path, entry.after]))
  const touched = moving.filter(entry => changed.has(entry.path) || isNewThere(place, entry))
  for (const entry of touched) {
    if (changed.get(entry.path) === entry.after || (await isPiece(place, entry))) continue
    refuse(doing, `${shown(entry.path)} was changed after landing was interrupted: restore or commit it first`)
  }
  for (const entry of touched.filter(({ before }) => before === null)) {
    unlinkBelow(repository.top, bytesOf(entry.path))
  }
  const list = (entries: readonly Entry[]): Buffer => joinRaw(entries.map(entry => entry.path))
  if (moving.length === 0) return
  const paths = ['--pathspec-from-file=-', '--pathspec-file-nul']
  await git.run(['reset', '--quiet', ...paths, head], { input: list(moving) })
  const back = touched.filter(({ before }) => before !== null)
  await git.run(['checkout-index', '--quiet', '--force', '-z', '--stdin'], { input: list(back) })
}

/** What was to be new, and is there: also where git ignores it. */
function isNewThere({ repository }: Place, entry: Entry): boolean {
  return entry.before === null && lstat(below(repository.top, entry.path)) !== undefined
}

/** Nothing, or the beginning of what was to come there. */
async function isPiece({ git, repository }: Place, { path: file, after }: Entry): Promise<boolean> {
  const place = below(repository.top, file)
  const stat = lstat(place)
  if (stat === undefined) return true
  if (after === null || stat.isDirectory()) return false
  if (stat.isSymbolicLink())
    return (await git.run(['cat-file', 'blob', after])).equals(fs.readlinkSync(place, { encoding: 'buffer' }))
  const isText = Buffer.from(shown(file)).equals(bytesOf(file))
  const words = isText ? ['--filters', `--path=${shown(file)}`] : ['blob']
  const whole = await git.run(['cat-file', ...words, after])
  const found = fs.readFileSync(place)
  return whole.subarray(0, found.length).equals(found)
}

/**
 * git writes the index before it moves HEAD, and lets go of HEAD and the branch after that. Nobody else will take away what it
 * has left: until then neither we nor the user can commit anything.
 */
async function removeOwnLocks(place: Place, { ref }: Landing, isMoved: boolean): Promise<void> {
  const { gitDir, commonDir } = place.repository
  const since = lstat(landingIn(place).file)?.mtimeMs ?? 0
  const names = ['HEAD.lock', 'ORIG_HEAD.lock', ...(isMoved ? [] : ['index.lock'])]
  const locks = names.map(name => path.join(gitDir, name))
  for (const lock of ref === null ? locks : [...locks, path.join(commonDir, `${ref}.lock`)]) {
    await removeOwn(lock, since, place.git.signal)
  }
}

async function removeOwn(lock: string, since: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const stat = lstat(lock)
    if (stat === undefined) return
    if (stat.mtimeMs < since) return // The user's, from before: git says so.
    if (Date.now() - stat.mtimeMs > STALE) return fs.rmSync(lock, { force: true })
    await pause(LOOK_AGAIN, undefined, { signal })
  }
}
