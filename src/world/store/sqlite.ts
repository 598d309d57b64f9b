import { createRequire } from 'node:module'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

export type Database = DatabaseSyncInstance

type Constructor = new (file: string, options?: { readOnly?: boolean; timeout?: number }) => Database

/** Node 24 and later bring their own SQLite; below that the same API comes from a package with prebuilt binaries. */
const load = createRequire(import.meta.url)
const hasOwn = Number(process.versions.node.split('.')[0]) >= 24
const { DatabaseSync } = load(hasOwn ? 'node:sqlite' : '@photostructure/sqlite') as { DatabaseSync: Constructor }

/** Opens a database file; `wait` is how long a locked one is waited for, in milliseconds. */
export function openDatabase(file: string, options: { readOnly?: boolean; wait?: number } = {}): Database {
  return new DatabaseSync(file, { readOnly: options.readOnly ?? false, timeout: options.wait ?? 5_000 })
}
