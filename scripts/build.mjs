// Bundles the program into dist/: plain ESM, split so that each command loads only what it needs.
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import path from 'node:path'
import { build } from 'esbuild'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const dist = path.join(root, 'dist')
const next = path.join(root, `dist.${process.pid}`)
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))

await build({
  entryPoints: { main: path.join(root, 'src/main.ts') },
  outdir: next,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['@photostructure/sqlite'],
  minifySyntax: true,
  minifyWhitespace: true,
  define: { ONESHOT_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
})
for (const name of fs.readdirSync(path.join(root, 'src/shim'))) {
  fs.copyFileSync(path.join(root, 'src/shim', name), path.join(next, name))
}
fs.writeFileSync(path.join(next, 'stamp'), '')
// A running supervisor has its files open by name only at start: old chunks stay until the next build but one.
const old = `${dist}.old`
fs.rmSync(old, { recursive: true, force: true })
if (fs.existsSync(dist)) fs.renameSync(dist, old)
fs.renameSync(next, dist)
fs.rmSync(old, { recursive: true, force: true })
