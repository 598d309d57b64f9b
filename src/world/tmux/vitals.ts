import fs from 'node:fs'
import type { Instant } from '../../lib/time.ts'
import type { Usage } from '../../ports/work.ts'
import { findTree } from '../os/end-tree.ts'
import type { AttemptFolder } from '../os/folders.ts'
import { usageOf } from '../os/usage.ts'
import { attemptTree } from './end-attempt.ts'

/** How an attempt's processes are doing, without asking them. */
export async function vitalsOf(folder: AttemptFolder, marker: string): Promise<Usage> {
  const rows = await findTree(attemptTree(folder, marker))
  const processes = rows.map(row => row.pid).sort((a, b) => a - b)
  return { written: writtenBy(folder), processes, ...(await usageOf(processes)) }
}

export function writtenBy(folder: AttemptFolder): number {
  const files = [folder.stdout, folder.stderr].map(file => fs.statSync(file, { throwIfNoEntry: false }))
  return files.reduce((total, stat) => total + (stat?.size ?? 0), 0)
}

/** When it last wrote something, or was started. */
export function lastSeen(folder: AttemptFolder): Instant | null {
  const written = [folder.stdout, folder.stderr].filter(
    file => (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0,
  )
  const times = [...written, folder.started].map(file => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs)
  const known = times.filter(time => time !== undefined)
  return known.length === 0 ? null : Math.floor(Math.max(...known))
}
