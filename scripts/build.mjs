// Bundles the program into dist/. One CommonJS file per way of being started, because a loader that opens thirty files
// takes as long as Node itself; commands inside the file are still evaluated only when they are used. main.cjs runs the
// first of them with a code cache.
import { execFileSync } from 'node:child_process'
import crypto from 'node:crypto'
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
  './loop/program.ts': 'loop',
  './loop/scout.ts': 'scout',
  './loop/land-program.ts': 'land',
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
  entryPoints: { program: path.join(root, 'src/main.ts'), ...entries },
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
  // import() of another part becomes require(), which needs no loader inside a script with a code cache.
  supported: { 'dynamic-import': false },
  plugins: [separate],
  logLevel: 'warning',
})
for (const name of fs.readdirSync(path.join(root, 'src/shim'))) {
  fs.copyFileSync(path.join(root, 'src/shim', name), path.join(next, name))
}
fs.copyFileSync(path.join(root, 'src/world/agents/pi/thin.cjs'), path.join(next, 'thin-pi.cjs'))
const hash = crypto
  .createHash('sha256')
  .update(fs.readFileSync(path.join(next, 'program.cjs')))
  .digest('hex')
  .slice(0, 12)
const boot = fs.readFileSync(path.join(root, 'scripts/boot.cjs'), 'utf8')
fs.writeFileSync(path.join(next, 'main.cjs'), boot.replace('HASH', hash))
fs.writeFileSync(path.join(next, 'stamp'), '')

// Swapped in whole: nobody ever runs half an old and half a new build.
const old = `${dist}.old`
fs.rmSync(old, { recursive: true, force: true })
if (fs.existsSync(dist)) fs.renameSync(dist, old)
fs.renameSync(next, dist)
fs.rmSync(old, { recursive: true, force: true })

// The first command fills the code cache: this one, rather than the user's.
const nowhere = { ...process.env, ONESHOT_HOME: path.join(dist, 'no-home') }
execFileSync(process.execPath, [path.join(dist, 'main.cjs'), 'list'], { env: nowhere, stdio: 'ignore' })
