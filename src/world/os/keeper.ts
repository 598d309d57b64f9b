import { spawn } from 'node:child_process'
import { quote } from '../../lib/quote.ts'
import { asset, selfArgv } from './assets.ts'
import { replaceIfChanged } from './files.ts'
import type { Home } from './home.ts'
import { identify, type ProcessId } from './processes.ts'

/** Starts the keeper, which starts the supervisor and brings it back whenever it dies. It outlives us. */
export function startKeeper(home: Home): void {
  // Whoever asks for it may be of an attempt: what carries its marker, or descends from it, ends with it.
  const { ONESHOT_ATTEMPT: attempt, ONESHOT_SESSION: _session, ...env } = process.env
  const orphaned = attempt === undefined ? [] : ['-c', 'sh "$@" &', 'sh']
  const keeper = spawn('sh', [...orphaned, asset('keeper.sh'), home.root, ...selfArgv()], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
    env,
  })
  keeper.on('error', () => undefined) // No sh: the caller notices that no supervisor answers, and says so.
  keeper.unref()
}

/** Who brings this supervisor back: the keeper that started it, which may have died since, or whoever else did. */
export function ownKeeper(): ProcessId {
  const { ONESHOT_KEEPER } = process.env
  delete process.env['ONESHOT_KEEPER'] // It means us, and nobody that we start.
  const pid = Number(ONESHOT_KEEPER ?? process.ppid)
  return (pid === process.ppid ? identify(pid) : undefined) ?? { pid, birth: 'gone' }
}

/** A supervisor whose keeper died gives itself another one, which takes over when it dies in its turn. */
export function replaceKeeper(home: Home): ProcessId | undefined {
  const argv = [asset('keeper.sh'), home.root, ...selfArgv(), String(process.pid)]
  const keeper = spawn('sh', argv, { detached: true, stdio: 'ignore', cwd: '/' })
  keeper.on('error', () => undefined) // No sh: then nobody brings us back but the next command.
  keeper.unref()
  return keeper.pid === undefined ? undefined : identify(keeper.pid)
}

/** Leaves word for the shims how to start a supervisor when none is there. */
export function writeWakeScript(home: Home): void {
  const words = ['sh', asset('keeper.sh'), home.root, ...selfArgv()].map(quote).join(' ')
  replaceIfChanged(
    home.wakeScript,
    `if command -v setsid >/dev/null 2>&1; then alone=setsid; fi\n$alone ${words} </dev/null >/dev/null 2>&1 &\n`,
  )
}
