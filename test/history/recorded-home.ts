import fs from 'node:fs'
import path from 'node:path'
import { openDatabase } from '../../src/os/sqlite.ts'
import { MAIN, type TestHome } from '../system/test-home.ts'

/** A state folder and its project, as `scripts/record-history.mjs` writes them. */
interface Recording {
  /** The output of `list --json`, after a power cut had ended all processes. */
  readonly listed: readonly Record<string, unknown>[]
  readonly database: {
    readonly userVersion: number
    readonly schema: readonly string[]
    readonly tables: Readonly<Record<string, readonly Record<string, string | number | null>[]>>
  }
  readonly folders: readonly string[]
  readonly files: readonly RecordedFile[]
}

interface RecordedFile {
  readonly name: string
  readonly mode: number
  readonly modifiedAt: number
  readonly text?: string
  readonly base64?: string
}

/** Restores the recorded state folder of a version into a test's home. */
export function restoreRecordedHome(testHome: TestHome, version: string): Recording {
  const recording = readRecording(version, testHome.root)
  for (const folder of recording.folders)
    fs.mkdirSync(path.join(testHome.root, folder), { recursive: true, mode: 0o700 })
  for (const file of recording.files) restoreFile(testHome.root, file)
  restoreDatabase(testHome.home.database, recording.database)
  return recording
}

/** Reads a recording. `root` is the folder that contains the home and the project. */
export function readRecording(version: string, root = '/recorded'): Recording {
  const text = fs.readFileSync(path.join(import.meta.dirname, `home-${version}.json`), 'utf8')
  return JSON.parse(replacePlaceholders(text, root)) as Recording
}

function replacePlaceholders(text: string, root: string): string {
  return text
    .replaceAll('@ROOT@', root)
    .replaceAll('@MAIN@', MAIN)
    .replaceAll('@NODE@', process.execPath)
    .replaceAll('@PATH@', process.env['PATH'] ?? '')
    .replaceAll('@BOOT@', fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
}

function restoreFile(root: string, { name, mode, modifiedAt, text = '', base64 }: RecordedFile): void {
  const file = path.join(root, name)
  fs.writeFileSync(file, base64 === undefined ? text : Buffer.from(base64, 'base64'), { mode })
  const seconds = (modifiedAt + 0.5) / 1000 // Half a millisecond more, because the call cuts off fractions.
  fs.utimesSync(file, seconds, seconds)
}

function restoreDatabase(file: string, { userVersion, schema, tables }: Recording['database']): void {
  const database = openDatabase(file)
  for (const sql of schema) database.exec(sql)
  for (const [table, rows] of Object.entries(tables)) {
    if (table === 'sqlite_sequence') database.exec('DELETE FROM sqlite_sequence')
    for (const row of rows) {
      const columns = Object.keys(row)
      const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
      database.prepare(sql).run(...Object.values(row))
    }
  }
  database.exec(`PRAGMA user_version = ${userVersion}`)
  database.close()
}
