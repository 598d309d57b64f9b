import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
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

/** Removes a lock that we have left on the user's index because we were killed. */
export function healIndexLock(place: Place): void {
  const { index, lock } = filesOf(place)
  const { gitDir } = place.repository
  const drafts = fs.readdirSync(gitDir).filter(name => name.startsWith(`index.${draftName(place)}`))
  const ours = [index, ...drafts.map(name => path.join(gitDir, name))].map(file => lstat(file)?.ino)
  const held = lstat(lock)?.ino
  if (held !== undefined && ours.includes(held)) fs.rmSync(lock, { force: true })
  for (const name of drafts) fs.rmSync(path.join(gitDir, name), { force: true })
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
