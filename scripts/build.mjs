// Bundles the program into dist/. Each entry point becomes one CommonJS file, because a loader that opens thirty files
// takes as long as Node itself; the file still evaluates a command only at its use. main.cjs runs the first bundle with
// a code cache.
import { spawn } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const source = path.join(root, 'src')
const dist = path.join(root, 'dist')
const next = path.join(root, `dist.${process.pid}`)
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))

/** Modules that become a bundle of their own. The program that imports one loads its bundle on demand. */
const PARTS = {
  'daemon/daemon.ts': 'daemon',
  'daemon/run-unsupervised.ts': 'direct',
  'demo/demo.ts': 'demo',
  'loop/main.ts': 'loop',
  'loop/inspect-project.ts': 'inspect-project',
  'loop/land-command.ts': 'land',
  'loop/retry-task.ts': 'retry',
  'world/agents/demo/program.ts': 'demo-agent',
  'world/notify/mail-client.ts': 'mail-client',
}
const separate = {
  name: 'separate-parts',
  setup({ onResolve }) {
    onResolve({ filter: /\.ts$/ }, ({ path: name, resolveDir, kind }) => {
      const part = kind === 'dynamic-import' ? PARTS[path.relative(source, path.resolve(resolveDir, name))] : undefined
      return part === undefined ? undefined : { path: `./${part}.cjs`, external: true }
    })
  },
}

const entries = Object.fromEntries(Object.entries(PARTS).map(([file, part]) => [part, path.join(source, file)]))
const { metafile } = await build({
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
  // import() of another bundle becomes require(), which needs no loader inside a script with a code cache.
  supported: { 'dynamic-import': false },
  plugins: [separate],
  metafile: true,
  logLevel: 'warning',
})
for (const name of fs.readdirSync(next)) escapeNonAscii(path.join(next, name))
for (const name of fs.readdirSync(path.join(root, 'src/shim'))) {
  fs.copyFileSync(path.join(root, 'src/shim', name), path.join(next, name))
}
fs.copyFileSync(path.join(root, 'src/world/agents/pi/drop-updates.cjs'), path.join(next, 'thin-pi.cjs'))
const CACHED = ['program', 'daemon', 'loop']
const hashes = Object.fromEntries(CACHED.map(part => [part, hashOf(path.join(next, `${part}.cjs`))]))
const boot = fs.readFileSync(path.join(root, 'scripts/boot.cjs'), 'utf8')
fs.writeFileSync(path.join(next, 'main.cjs'), boot.replace('HASHES[part]', `${JSON.stringify(hashes)}[part]`))
fs.writeFileSync(path.join(next, 'licenses.txt'), collectLicenses())
fs.writeFileSync(path.join(next, 'stamp'), '')

// The new build replaces the old one by renames, so that nobody runs a mix of both.
const old = `${dist}.old`
fs.rmSync(old, { recursive: true, force: true })
if (fs.existsSync(dist)) fs.renameSync(dist, old)
fs.renameSync(next, dist)
fs.rmSync(old, { recursive: true, force: true })

/** Common commands: the code cache holds the functions that they compile. */
const COMMANDS = [
  ['daemon', 'status'],
  ['run', '--name', 'cache', '--', 'true'],
  ['wait', 'cache'],
  ['status', 'cache'],
  ['list'],
  ['log', 'cache'],
  ['clean', '--yes'],
]
await collectCodeCaches()

/**
 * Runs common commands once to fill the code cache, so that a user's first command starts as fast as the next. The
 * supervisor has its own cache, made with the flag that keeper.sh sets.
 */
async function collectCodeCaches() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oneshot-build-'))
  const env = { ...process.env, ONESHOT_HOME: path.join(folder, 'home'), ONESHOT_CODE_CACHE: 'collect' }
  const start = (flags, words) =>
    spawn(process.execPath, [...flags, path.join(dist, 'main.cjs'), ...words], {
      cwd: folder, // A folder outside of every repository: the session leaves nothing behind.
      env,
      stdio: 'ignore',
      timeout: 20_000,
    })
  const ended = child => new Promise(resolve => child.once('close', resolve))
  try {
    const supervisor = start(['--max-semi-space-size=2'], ['__daemon'])
    const stopped = ended(supervisor)
    for (const words of COMMANDS) await ended(start([], words))
    supervisor.kill('SIGTERM')
    await stopped
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the licences of all packages whose code is in a bundle. */
function collectLicenses() {
  const files = Object.keys(metafile.inputs)
  const packages = new Set(files.flatMap(file => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []))
  return [...packages].toSorted().map(describeLicense).join('\n\n')
}

function describeLicense(folder) {
  const { name, version, license } = JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'))
  const file = fs.readdirSync(path.join(root, folder)).find(entry => /^licen[sc]e/i.test(entry))
  if (file === undefined) throw new Error(`${folder} has no licence file`)
  const text = fs.readFileSync(path.join(root, folder, file), 'utf8').trim()
  return `${name} ${version} (${license})\n\n${text}\n`
}

/** Escapes the regular expressions, which esbuild leaves as they are; the same escapes are valid there. */
function escapeNonAscii(file) {
  const text = fs.readFileSync(file, 'utf8')
  const escaped = text.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  if (escaped !== text) fs.writeFileSync(file, escaped)
}

function hashOf(file) {
  return crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex').slice(0, 12)
}
