import fs from 'node:fs'
import type { Findings } from './findings.ts'

/**
 * Checks every write into the database's journal, as a preloaded library inside the supervisors recorded it. Once a
 * newer supervisor has written, an older one must never write again. Returns the numbers of writes and of supervisors.
 */
export function checkDatabaseWriters(file: string, findings: Findings): { writes: number; writers: number } {
  const rows = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  const writes = rows
    .map(row => row.split(' '))
    .map(([pid, birth, at]) => ({ writer: `${pid} (${birth})`, at: BigInt(at ?? 0) }))
  writes.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  const past = new Set<string>()
  let current = ''
  for (const { writer, at } of writes) {
    if (writer === current) continue
    if (past.has(writer)) findings.add('one supervisor', `pid ${writer} wrote at ${at} after ${current} had taken over`)
    past.add(current)
    current = writer
  }
  return { writes: writes.length, writers: new Set(writes.map(({ writer }) => writer)).size }
}
