import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { quoteShellWord } from '../lib/text/shell-words.ts'
import { installedFile, selfArgv } from '../os/installed-files.ts'
import { replaceIfChanged } from '../os/files/file-io.ts'
import type { Home } from './home.ts'
import { writePid } from './pid-file.ts'
import { identifyProcess, type ProcessId } from '../os/process/processes.ts'

/**
 * Starts the keeper, which starts the supervisor and restarts it whenever it dies. The keeper outlives this process.
 */
export function startKeeper(home: Home, environment: NodeJS.ProcessEnv = process.env): void {
  // The caller may belong to an attempt: a sweep ends every process that carries the attempt's marker or descends from
  // it.
  const { ONESHOT_ATTEMPT: attempt, ONESHOT_SESSION: _session, ...env } = environment
  const detachArguments = attempt === undefined ? [] : ['-c', 'sh "$@" &', 'sh']
  const keeper = spawn('sh', [...detachArguments, installedFile('keeper.sh'), home.root, ...selfArgv()], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    env,
  })
  keeper.on('error', () => undefined) // There is no sh: the caller notices that no supervisor answers, and reports it.
  keeper.unref()
}

/**
 * The process that restarts a supervisor. `keeper.pid` names only a keeper of this program (`isOurs`), so that nobody
 * mistakes another process for one.
 */
export interface Keeper extends ProcessId {
  readonly isOurs: boolean
}

/**
 * Returns the keeper that started this supervisor, which may have died since, or the parent process without a keeper.
 */
export function identifyKeeper(): Keeper {
  const { ONESHOT_KEEPER } = process.env
  delete process.env['ONESHOT_KEEPER'] // The variable is for this process only, not for its children.
  const pid = Number(ONESHOT_KEEPER ?? process.ppid)
  const parent = pid === process.ppid ? identifyProcess(pid) : undefined
  return { ...(parent ?? { pid, birth: 'gone' }), isOurs: ONESHOT_KEEPER !== undefined && parent !== undefined }
}

/**
 * Writes the pid of the keeper of the supervisor in charge. Only that supervisor does so: several keepers may start at
 * once, and only the supervisor knows its own.
 */
export function nameKeeper(home: Home, keeper: Keeper | undefined): void {
  if (keeper?.isOurs === true) writePid(home.keeperPid, keeper.pid)
  else fs.rmSync(home.keeperPid, { force: true })
}

/** Starts a new keeper for a supervisor whose keeper died. It waits for this supervisor's end and then restarts it. */
export function replaceKeeper(home: Home): Keeper | undefined {
  const argv = [installedFile('keeper.sh'), home.root, ...selfArgv(), String(process.pid)]
  const keeper = spawn('sh', argv, { detached: true, stdio: 'ignore', cwd: '/' })
  keeper.on('error', () => undefined) // There is no sh: only the next command restarts the supervisor.
  keeper.unref()
  const started = keeper.pid === undefined ? undefined : identifyProcess(keeper.pid)
  return started && { ...started, isOurs: true }
}

/** Writes the script with which a shim starts a supervisor when none runs. */
export function writeWakeScript(home: Home): void {
  const words = ['sh', installedFile('keeper.sh'), home.root, ...selfArgv()].map(quoteShellWord).join(' ')
  replaceIfChanged(
    home.wakeScript,
    `if command -v setsid >/dev/null 2>&1; then alone=setsid; fi\n$alone ${words} </dev/null >/dev/null 2>&1 &\n`,
  )
}
