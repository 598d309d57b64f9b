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

const MAX_READS = 10

/**
 * Repeats a read of a database that was opened for reading. If another process writes the header of the journal's
 * index at the same moment, SQLite takes the header for one that a crash has left, wants to repair it, and may not.
 */
export function repeatRead<T>(read: () => T): T {
  for (let count = 1; ; count++) {
    try {
      return read()
    } catch (cause) {
      const isUnreadable = cause instanceof Error && cause.message.includes('readonly database')
      if (!isUnreadable || count === MAX_READS) throw cause
    }
  }
}

/** Returns the name of the journal's index, which SQLite shares between processes. */
export function indexOf(file: string): string {
  return `${file}-shm`
}

/** Returns the name of the journal (the write-ahead log). */
export function journalOf(file: string): string {
  return `${file}-wal`
}

const DatabaseSync = loadDriver()

/** Node 24 and later include SQLite; for older versions a package with prebuilt binaries has the same API. */
function loadDriver(): Constructor {
  const hasBuiltIn = Number(process.versions.node.split('.')[0]) >= 24
  const { DatabaseSync: constructor } = hasBuiltIn ? requireDriver('node:sqlite') : loadPackage()
  return constructor
}

interface Driver {
  readonly DatabaseSync: Constructor
}

/** Loads the package's binary itself: the package searches for it, and `require` for the package's files. */
function loadPackage(): Driver {
  const libc = fs.existsSync('/etc/alpine-release') ? 'musl' : 'glibc' // The package uses `glibc` for macOS, too.
  const folder = path.join('node_modules/@photostructure/sqlite/prebuilds', `${process.platform}-${process.arch}`)
  const binary = { exports: {} }
  try {
    process.dlopen(binary, path.join(packageRoot(), folder, `@photostructure+sqlite.${libc}.node`))
    return binary.exports as Driver
  } catch {
    return requireDriver('@photostructure/sqlite') // npm has put the package elsewhere, or compiled it.
  }
}

function requireDriver(name: string): Driver {
  return createRequire(import.meta.filename)(name) as Driver
}
