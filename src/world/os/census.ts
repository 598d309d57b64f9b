import { setTimeout as pause } from 'node:timers/promises'
import { type ProcessRow, processTable } from './processes.ts'

/** After a scan we rest twice as long as it took, so that ending 200 sessions at once leaves time for everything else. */
const REST = 2

let waiting: Promise<ProcessRow[]> | undefined
let nextScanAt = 0

/** Every process there is, seen after this was called. One scan serves everybody who asked before it began. */
export function census(): Promise<ProcessRow[]> {
  waiting ??= scanSoon()
  return waiting
}

async function scanSoon(): Promise<ProcessRow[]> {
  await pause(Math.max(0, nextScanAt - performance.now()))
  waiting = undefined
  const begun = performance.now()
  const table = await processTable()
  nextScanAt = performance.now() + REST * (performance.now() - begun)
  return table
}
