import fs from 'node:fs'
import type { Home } from '../state/home.ts'
import { findDamage } from '../world/store/maintenance/integrity.ts'

/** Bytes. SQLite checks about this much in a second. */
const CHECKED_IN_A_SECOND = 256 * 1_048_576

export interface DatabaseCheck {
  readonly size: number
  /** Null when the whole database is readable and consistent. */
  readonly damage: string | null
}

/**
 * Checks the whole database of a home; undefined if it has none. Calls `onSlow` once when the check takes longer than
 * about a second. SQLite blocks the process meanwhile, so the size decides that before the first table.
 */
export async function checkDatabaseFile({ database }: Home, onSlow: () => void): Promise<DatabaseCheck | undefined> {
  const size = fs.statSync(database, { throwIfNoEntry: false })?.size
  if (size === undefined) return undefined
  const began = performance.now()
  let isReported = false
  const damage = await findDamage(database, () => {
    const isSlow = size > CHECKED_IN_A_SECOND || performance.now() - began > 1_000
    if (isSlow && !isReported) onSlow()
    isReported ||= isSlow
  })
  return { size, damage: damage ?? null }
}
