import fs from 'node:fs'
import path from 'node:path'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { openDatabase } from '../../src/os/sqlite.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { type TestHome, processesOf, waitUntil } from './test-home.ts'

/** Simulates a power cut: every process of this home is gone, and the records belong to another boot. */
export async function simulateReboot(testHome: TestHome): Promise<void> {
  await killAll(testHome)
  for (const file of ['daemon.sock', 'tmux.sock']) fs.rmSync(path.join(testHome.home.root, file), { force: true })
  const database = openDatabase(testHome.home.database)
  const rows = database.prepare('SELECT id, state FROM sessions').all() as { id: string; state: string }[]
  for (const { id, state } of rows) {
    const session = JSON.parse(state) as { attempt: { number: number; process: { boot: string } | null } }
    if (session.attempt.process !== null) session.attempt.process.boot = EARLIER
    database.prepare('UPDATE sessions SET state = ? WHERE id = ?').run(JSON.stringify(session), id)
    const { started } = attemptFolder(testHome.home, testSessionId(id), session.attempt.number)
    if (fs.existsSync(started)) asOfEarlierBoot(started)
  }
  database.close()
}

/** Kills every process of this home: supervisor, keeper, tmux, shims and agents. */
export async function killAll(testHome: TestHome): Promise<void> {
  await waitUntil('nothing lives any more', () => {
    const left = processesOf(testHome.root)
    for (const { pid } of left) kill(pid)
    return left.length === 0 ? true : undefined
  })
}

const EARLIER = '00000000-0000-4000-8000-000000000000'

/** Changes the third word of the record and keeps its time. */
function asOfEarlierBoot(file: string): void {
  const { atime, mtime } = fs.statSync(file)
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/^(\S+ \S+) \S+$/m, `$1 ${EARLIER}`))
  fs.utimesSync(file, atime, mtime)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended meanwhile.
  }
}
