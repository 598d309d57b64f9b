import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { packageRoot } from './installed-files.ts'

export type Database = DatabaseSyncInstance

type Constructor = new (file: string, options?: { readOnly?: boolean; timeout?: number }) => Database

/** Opens a database file. `wait`: milliseconds to wait for a locked database. */
export function openDatabase(file: string, options: { readOnly?: boolean; wait?: number } = {}): Database {
  return new DatabaseSync(file, { readOnly: options.readOnly ?? false, timeout: options.wait ?? 5_000 })
}

/**
 * Opens a database that another process may write. The first connection of a usual reader truncates and extends the
 * index of the journal (`-shm`), and a full disk prevents that. This reader leaves an existing index as it is.
 * Within one process, no connection that opens the same database later can write.
 */
export function openForReading(file: string): Database {
  return openDatabase(fs.existsSync(indexOf(file)) ? `${pathToFileURL(file).href}?readonly_shm=1` : file, {
    readOnly: true,
  })
}

/** Returns the name of the journal's index, which SQLite shares between processes. */
export function indexOf(file: string): string {
  return `${file}-shm`
}

const DatabaseSync = loadDriver()

/** Node 24 and later include SQLite; for older versions a package with prebuilt binaries has the same API. */
function loadDriver(): Constructor {
  const requireModule = createRequire(import.meta.url)
  const hasBuiltIn = Number(process.versions.node.split('.')[0]) >= 24
  const name = hasBuiltIn ? 'node:sqlite' : (prebuiltBinary() ?? '@photostructure/sqlite')
  return (requireModule(name) as { DatabaseSync: Constructor }).DatabaseSync
}

/**
 * Returns the path of the package's binary. Without it the package searches, which costs each command 5 of its 20 ms.
 */
function prebuiltBinary(): string | undefined {
  const libc = fs.existsSync('/etc/alpine-release') ? 'musl' : 'glibc' // The package uses `glibc` for macOS, too.
  const folder = path.join('node_modules/@photostructure/sqlite/prebuilds', `${process.platform}-${process.arch}`)
  const file = path.join(packageRoot(), folder, `@photostructure+sqlite.${libc}.node`)
  return fs.existsSync(file) ? file : undefined
}
