import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { quoteShellWord } from '../lib/text/shell-words.ts'
import { installedFile, selfArgv } from '../os/installation.ts'
import { replaceIfChanged } from '../os/files/file-io.ts'
import type { Home } from './home.ts'
import { writePid } from './pid-file.ts'
import { identifyProcess, type ProcessId } from '../os/process/processes.ts'

/** Starts the keeper, which starts the supervisor and brings it back whenever it dies. It outlives us. */
export function startKeeper(home: Home): void {
  // Whoever asks for it may be of an attempt: what carries its marker, or descends from it, ends with it.
  const { ONESHOT_ATTEMPT: attempt, ONESHOT_SESSION: _session, ...env } = process.env
  const detachArguments = attempt === undefined ? [] : ['-c', 'sh "$@" &', 'sh']
  const keeper = spawn('sh', [...detachArguments, installedFile('keeper.sh'), home.root, ...selfArgv()], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    env,
  })
  keeper.on('error', () => undefined) // No sh: the caller notices that no supervisor answers, and says so.
  keeper.unref()
}

/** The process that brings a supervisor back. Only a keeper of ours is named in `keeper.pid`: nobody may take another for one. */
export interface Keeper extends ProcessId {
  readonly isOurs: boolean
}

/** The keeper that started this supervisor, which may have died since, or the process that started it instead. */
export function identifyKeeper(): Keeper {
  const { ONESHOT_KEEPER } = process.env
  delete process.env['ONESHOT_KEEPER'] // It means us, and nobody that we start.
  const pid = Number(ONESHOT_KEEPER ?? process.ppid)
  const parent = pid === process.ppid ? identifyProcess(pid) : undefined
  return { ...(parent ?? { pid, birth: 'gone' }), isOurs: ONESHOT_KEEPER !== undefined && parent !== undefined }
}

/**
 * Names the keeper of the supervisor in charge. That supervisor alone does so: several keepers may start together, and only it
 * knows which of them is its own.
 */
export function nameKeeper(home: Home, keeper: Keeper | undefined): void {
  if (keeper?.isOurs === true) writePid(home.keeperPid, keeper.pid)
  else fs.rmSync(home.keeperPid, { force: true })
}

/** A supervisor whose keeper died gives itself another one, which takes over when it dies in its turn. */
export function replaceKeeper(home: Home): Keeper | undefined {
  const argv = [installedFile('keeper.sh'), home.root, ...selfArgv(), String(process.pid)]
  const keeper = spawn('sh', argv, { detached: true, stdio: 'ignore', cwd: '/' })
  keeper.on('error', () => undefined) // No sh: then nobody brings us back but the next command.
  keeper.unref()
  const started = keeper.pid === undefined ? undefined : identifyProcess(keeper.pid)
  return started && { ...started, isOurs: true }
}

/** Leaves word for the shims how to start a supervisor when none is there. */
export function writeWakeScript(home: Home): void {
  const words = ['sh', installedFile('keeper.sh'), home.root, ...selfArgv()].map(quoteShellWord).join(' ')
  replaceIfChanged(
    home.wakeScript,
    `if command -v setsid >/dev/null 2>&1; then alone=setsid; fi\n$alone ${words} </dev/null >/dev/null 2>&1 &\n`,
  )
}
