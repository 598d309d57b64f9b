import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Home, homeAt, openHome } from '../../src/state/home.ts'
import { processesOf } from './process-list.ts'
import { waitUntil } from './wait-until.ts'

export interface TempHome {
  readonly home: Home
  /** Fails if a process is left that mentions this home, and ends it; then removes all files. */
  readonly assertNoLeaks: () => Promise<void>
}

/** Creates a separate home in the folder for temporary files; `name` is part of its path. */
export function tempHome(name = ''): TempHome {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-'))
  const home = homeAt(path.join(folder, name))
  openHome(home)
  return { home, assertNoLeaks: () => assertNoLeaks(folder) }
}

async function assertNoLeaks(folder: string): Promise<void> {
  try {
    await waitUntil('nothing of it is left', () => processesOf(folder).length === 0, 5_000)
  } catch {
    const left = processesOf(folder)
    for (const { pid } of left) end(pid)
    throw new Error(`left behind: ${left.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended meanwhile.
  }
}
