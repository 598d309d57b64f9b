import fs from 'node:fs'
import type { Findings } from './findings.ts'

/**
 * Every write into the database's journal was seen by a witness of ours inside the supervisors. Once a newer one has
 * written, an older one must never write again. Answers how many writes there were, and by how many supervisors.
 */
export function checkWitness(file: string, findings: Findings): { writes: number; writers: number } {
  const rows = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  const writes = rows.map(row => row.split(' ')).map(([pid, at]) => ({ pid: pid ?? '', at: BigInt(at ?? 0) }))
  writes.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  const past = new Set<string>()
  let current = ''
  for (const { pid, at } of writes) {
    if (pid === current) continue
    if (past.has(pid)) findings.add('one supervisor', `pid ${pid} wrote at ${at} after pid ${current} had taken over`)
    past.add(current)
    current = pid
  }
  return { writes: writes.length, writers: new Set(writes.map(({ pid }) => pid)).size }
}
