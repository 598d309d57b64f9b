import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { below, type RawPath, splitRaw } from '../../../lib/raw-path.ts'
import { hasCode } from '../../../lib/trouble.ts'
import { lstat } from '../lstat.ts'
import type { Place } from '../place.ts'
import { copyIndex } from './copy-index.ts'
import { stampOf } from './sparse-mark.ts'

/**
 * Puts an index of this tree into the place of the user's, together with a deed: whoever else wants to write it is told
 * meanwhile that it is locked. The lock is a second name of the new index, so that one which is left behind is known as ours.
 */
export async function replaceIndex(place: Place, tree: string, deed: () => Promise<unknown>): Promise<void> {
  const { index, lock } = filesOf(place)
  const draft = `${index}.${draftName(place)}${crypto.randomBytes(4).toString('hex')}`
  const before = stampOf(index)
  try {
    await draftIndex(place, tree, draft)
    takeLock(draft, lock)
    try {
      if (stampOf(index) !== before) throw new Error('the index was changed at the same time')
      await deed()
      fs.renameSync(draft, index)
    } finally {
      fs.rmSync(lock, { force: true })
    }
  } finally {
    fs.rmSync(draft, { force: true })
  }
}

/**
 * Finishes what we have left on the user's index because we were killed: one that belongs to what HEAD is by now takes its place,
 * any other goes. The lock, if it is ours, has kept everybody else from it.
 */
export async function healIndex(place: Place): Promise<void> {
  const { index, lock } = filesOf(place)
  const { gitDir } = place.repository
  const drafts = fs.readdirSync(gitDir).filter(name => name.startsWith(`index.${draftName(place)}`))
  for (const draft of drafts.map(name => path.join(gitDir, name))) {
    const isLocked = isSame(draft, lock)
    if (isLocked && (await isOfHead(place, draft))) fs.renameSync(draft, index)
    if (isLocked) fs.rmSync(lock, { force: true })
    fs.rmSync(draft, { force: true })
  }
  if (isSame(index, lock)) fs.rmSync(lock, { force: true })
}

/** Whether these are two names of one file. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [lstat(one), lstat(other)]
  return first !== undefined && first.ino === second?.ino
}

async function isOfHead({ git }: Place, index: string): Promise<boolean> {
  return (await git.ask(['diff-index', '--cached', '--quiet', 'HEAD'], { index })).code === 0
}

/** What the user has staged, and the tree does not have although it is there: it would be unstaged. */
export async function stagedBeyond({ git, repository }: Place, tree: string): Promise<RawPath[]> {
  const words = ['diff-index', '--cached', '--no-renames', '--diff-filter=A', '--name-only', '-z', tree]
  const staged = splitRaw(await git.run(words))
  return staged.filter(path => lstat(below(repository.top, path)) !== undefined)
}

/** Keeps what the user's index knows of files that are in both. */
async function draftIndex({ git, repository }: Place, tree: string, draft: string): Promise<void> {
  const whole = ['-c', 'index.skipHash=false']
  copyIndex(path.join(repository.gitDir, 'index'), draft)
  await git.run([...whole, 'read-tree', '-i', '-m', tree], { index: draft })
  // It tells of files that were changed meanwhile by its exit code.
  await git.ask([...whole, 'update-index', '-q', '--refresh'], { index: draft })
}

function takeLock(draft: string, lock: string): void {
  try {
    fs.linkSync(draft, lock)
  } catch (cause) {
    throw hasCode(cause, 'EEXIST') ? new Error('the index is locked by another git process') : cause
  }
}

function filesOf({ repository }: Place): { index: string; lock: string } {
  const index = path.join(repository.gitDir, 'index')
  return { index, lock: `${index}.lock` }
}

function draftName({ sessionId }: Place): string {
  return `oneshot-${sessionId}-`
}
