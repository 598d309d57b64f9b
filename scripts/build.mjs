// Bundles the program into dist/. One CommonJS file per way of being started: measured on Node 20, `status` takes half
// the time it took as split ES modules, because the loader opens one file instead of thirty. Commands inside the file
// are still evaluated only when they are used.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const dist = path.join(root, 'dist')
const next = path.join(root, `dist.${process.pid}`)
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))

/** What main.ts loads on demand becomes a file of its own. */
const PARTS = {
  './daemon/daemon.ts': 'daemon',
  './daemon/direct.ts': 'direct',
  './demo/demo.ts': 'demo',
  './world/agents/demo/program.ts': 'demo-agent',
}
const separate = {
  name: 'separate-parts',
  setup({ onResolve }) {
    onResolve({ filter: /\.ts$/ }, ({ path: name, importer }) => {
      const part = importer.endsWith('src/main.ts') ? PARTS[name] : undefined
      return part === undefined ? undefined : { path: `./${part}.cjs`, external: true }
    })
  },
}

const entries = Object.fromEntries(Object.entries(PARTS).map(([file, part]) => [part, path.join(root, 'src', file)]))
await build({
  entryPoints: { main: path.join(root, 'src/main.ts'), ...entries },
  outdir: next,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  external: ['@photostructure/sqlite'],
  minifyWhitespace: true,
  minifySyntax: true,
  banner: { js: "const here_ = require('node:url').pathToFileURL(__filename).href;" },
  define: { ONESHOT_VERSION: JSON.stringify(version), 'import.meta.url': 'here_' },
  plugins: [separate],
  logLevel: 'warning',
})
for (const name of fs.readdirSync(path.join(root, 'src/shim'))) {
  fs.copyFileSync(path.join(root, 'src/shim', name), path.join(next, name))
}
fs.writeFileSync(path.join(next, 'stamp'), '')

// Swapped in whole: nobody ever runs half an old and half a new build.
const old = `${dist}.old`
fs.rmSync(old, { recursive: true, force: true })
if (fs.existsSync(dist)) fs.renameSync(dist, old)
fs.renameSync(next, dist)
fs.rmSync(old, { recursive: true, force: true })
