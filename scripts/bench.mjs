// Measures oneshot and comparable programs: npm run bench [-- [--quick | --guard] [--write] [FIGURE …]]. Installs missing
// programs.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { installAgents } from './install-agents.mjs'
import { install, root } from './steps.mjs'

/** The agents of the figure `turn`. */
const AGENTS = ['claude', 'codex', 'opencode', 'pi']

install()
const words = process.argv.slice(2)
const figures = words.filter(word => !word.startsWith('--'))
const needsAgents = figures.length === 0 ? !words.includes('--guard') : figures.includes('turn')
if (needsAgents) await installAgents(AGENTS)
const { build } = await import('esbuild')
// The folder is inside node_modules, so that the bundle finds the packages that it does not contain.
const folder = fs.mkdtempSync(path.join(root, 'node_modules', '.bench-'))
try {
  await build({
    entryPoints: { main: path.join(root, 'bench/main.ts') },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    define: { ONESHOT_VERSION: '"bench"' },
    logLevel: 'warning',
  })
  const args = [path.join(folder, 'main.mjs'), root, ...words]
  process.on('SIGINT', () => undefined) // The benchmark ends on Ctrl-C and cleans up first.
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
