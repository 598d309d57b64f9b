// Measures the product beside its peers: npm run bench [-- [--quick] [--write] [FIGURE …]]. What is missing is installed.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { install, root } from './steps.mjs'

install()
const { build } = await import('esbuild')
// Inside node_modules, so that packages left out of the bundle are found.
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
  const args = [path.join(folder, 'main.mjs'), root, ...process.argv.slice(2)]
  process.on('SIGINT', () => undefined) // The benchmark ends by it, and cleans up first.
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
