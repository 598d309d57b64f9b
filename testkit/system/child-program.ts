import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { waitUntil } from './wait-until.ts'

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..')

/** Bundles a TypeScript file of the tests into a program for a child process. */
export async function bundleProgram(entry: string): Promise<string> {
  const name = path.basename(entry, '.ts')
  const outfile = path.join(root, 'node_modules', '.oneshot-test', `${name}-${process.pid}.mjs`)
  const packages = 'external' as const
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    packages,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  return outfile
}

/** A child process that prints its actions line by line. */
export class ChildProgram {
  readonly child: ChildProcess
  said = ''

  constructor(program: string, ...args: string[]) {
    this.child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.said += chunk.toString()
    })
  }

  async readLine(): Promise<string> {
    await waitUntil('it has said something', () => this.said.endsWith('\n'))
    return this.said.trim()
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal)
    await waitUntil('it is gone', () => this.child.exitCode !== null || this.child.signalCode !== null)
  }
}
