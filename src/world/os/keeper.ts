import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { quote } from '../../lib/quote.ts'
import { asset, selfArgv } from './assets.ts'
import { replaceFile } from './files.ts'
import type { Home } from './home.ts'

/** Starts the keeper, which starts the supervisor and brings it back whenever it dies. It outlives us. */
export function startKeeper(home: Home): void {
  fs.rmSync(home.downMarker, { force: true })
  const keeper = spawn('sh', [asset('keeper.sh'), home.root, ...selfArgv()], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
  })
  keeper.on('error', () => undefined) // No sh: the caller notices that no supervisor answers, and says so.
  keeper.unref()
}

/** A supervisor whose keeper died gives itself another one, which takes over when it dies in its turn. */
export function replaceKeeper(home: Home): void {
  const argv = [asset('keeper.sh'), home.root, ...selfArgv(), String(process.pid)]
  const keeper = spawn('sh', argv, { detached: true, stdio: 'ignore', cwd: '/' })
  keeper.on('error', () => undefined) // No sh: then nobody brings us back but the next command.
  keeper.unref()
}

/** Leaves word for the shims how to start a supervisor when none is there. */
export function writeWakeScript(home: Home): void {
  const words = ['sh', asset('keeper.sh'), home.root, ...selfArgv()].map(quote).join(' ')
  replaceFile(
    home.wakeScript,
    `if command -v setsid >/dev/null 2>&1; then alone=setsid; fi\n$alone ${words} </dev/null >/dev/null 2>&1 &\n`,
  )
}
