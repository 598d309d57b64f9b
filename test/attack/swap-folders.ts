import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'

/**
 * Starts a process that swaps each of these folders for a link to another folder and back, as fast as it can, until the
 * end of the test. Resolves after its first swap, with a function that ends it.
 */
export async function swapForever(folders: readonly string[], target: string): Promise<() => Promise<void>> {
  const program = `
    const fs = require('node:fs')
    const [target, ...folders] = process.argv.slice(1)
    const attempt = deed => { try { deed() } catch {} }
    process.stdout.write('ready')
    for (let turn = 0; ; turn++) {
      const folder = folders[turn % folders.length]
      attempt(() => fs.renameSync(folder, folder + '.real'))
      attempt(() => fs.symlinkSync(target, folder))
      attempt(() => fs.unlinkSync(folder))
      attempt(() => fs.renameSync(folder + '.real', folder))
    }`
  const child = spawn(process.execPath, ['-e', program, '--', target, ...folders], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('exit', code => reject(new Error(`the attacker ended with ${code}`)))
  })
  return () =>
    new Promise(resolve => {
      child.removeAllListeners('exit').once('exit', () => resolve())
      child.kill('SIGKILL')
    })
}
