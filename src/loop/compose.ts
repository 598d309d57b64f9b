import fs from 'node:fs'
import path from 'node:path'
import type { LoopSpec } from '../core/loop/spec.ts'
import { systemClock } from '../os/system-clock.ts'
import type { TaskSource } from '../ports/task-source.ts'
import type { Home } from '../state/home.ts'
import { loopFolder } from '../state/loop-file.ts'
import { projectChecks } from '../world/checks/detect-check.ts'
import { gitWorktrees } from '../world/git/worktrees/git-worktrees.ts'
import { beadsTaskSource } from '../world/task-list/beads-source.ts'
import { fileTaskSource } from '../world/task-list/file-source.ts'
import { findTaskSource } from '../world/task-list/find-source.ts'
import { fileListBackup } from '../world/task-list/list-backup.ts'
import { type LoopContext, type LoopSession, createLoopContext } from './context.ts'
import { SessionWorkers, storedSerialLoops } from './run-workers-as-sessions.ts'

/** Variables of this attempt, which child processes must not inherit. */
const OWN_VARIABLES = new Set(['ONESHOT_ATTEMPT', 'ONESHOT_SESSION'])

/** Creates the context of a loop in this home, with the real outside. */
export async function connectDrivers(
  home: Home,
  { spec, session, logFolder }: { spec: LoopSpec; session: LoopSession; logFolder: string },
): Promise<LoopContext> {
  const env = workerEnvironment()
  const taskSource = await chooseTaskSource(spec.list, session.cwd, env)
  const ports = {
    clock: systemClock,
    taskSource,
    listBackup: fileListBackup(taskSource.file, path.join(loopFolder(home, session.id), 'list')),
    worktrees: gitWorktrees({ env, recordFolder: loopFolder(home, session.id) }),
    checks: projectChecks(env),
    workers: new SessionWorkers(home, session.id),
    serialLoops: storedSerialLoops(home, session),
  }
  return createLoopContext(ports, { session, spec, env, logFolder })
}

/** A planning loop writes its list as Markdown boxes. */
async function chooseTaskSource(
  list: string | null,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<TaskSource> {
  if (list === null) return beadsTaskSource(env)
  return fs.existsSync(path.resolve(cwd, list)) ? findTaskSource({ cwd, env }, list) : fileTaskSource('markdown', list)
}

function workerEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env)
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined && !OWN_VARIABLES.has(entry[0])),
  )
}
