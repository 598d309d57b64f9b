// Kills everything that can be killed while a fleet works: npm run chaos [-- --kills N --seed S --sessions M --write].
// With --loops it does the same for loops: npm run chaos -- --loops [--rounds N --seed S --jobs J --write].
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { install, root } from './steps.mjs'

install()
const { build } = await import('esbuild')
// The folder is inside node_modules, so that the bundles find the packages that they do not contain.
const folder = fs.mkdtempSync(path.join(root, 'node_modules', '.chaos-'))
const common = { bundle: true, platform: 'node', target: 'node20', packages: 'external', logLevel: 'warning' }
const bundled = (name, format, entry) =>
  build({ ...common, entryPoints: [path.join(root, 'test/chaos', entry)], outfile: path.join(folder, name), format })
const entry = process.argv.includes('--loops') ? 'loops/main.ts' : 'main.ts'
try {
  await Promise.all([bundled('main.mjs', 'esm', entry), bundled('agent.cjs', 'cjs', 'agent/agent.ts')])
  const args = [path.join(folder, 'main.mjs'), root, path.join(folder, 'agent.cjs'), ...process.argv.slice(2)]
  process.on('SIGINT', () => undefined) // The run ends on Ctrl-C and cleans up first.
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
