// Bundles the program into dist/. Each entry point becomes one CommonJS file, because a loader that opens thirty files
// takes as long as Node itself; the file still evaluates a command only at its use. Frequent commands have smaller
// bundles. main.cjs chooses the bundle and runs it with a code cache.
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
  'daemon/run-agent-unsupervised.ts': 'direct',
  'demo/demo.ts': 'demo',
  'loop/main.ts': 'loop',
  'loop/inspect-project.ts': 'inspect-project',
  'loop/land-loop.ts': 'land',
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

/** Bundles of the command line with only some commands; `program` has all. Aliases count, because main.cjs sees them. */
const COMMAND_BUNDLES = {
  reader: ['status', 'list', 'ls', 'ps', 'log', 'logs', 'follow', 'wait', 'events', 'messages'],
  run: ['run'],
}

/** Leaves out all commands but those of the bundle: main.cjs never starts another one with it. */
const onlyCommands = names => ({
  name: 'only-commands',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/commands\// }, ({ path: file, importer }) => {
      const isLeftOut = importer.endsWith('command-index.ts') && !names.includes(path.basename(file, '.ts'))
      return isLeftOut ? { path: file, namespace: 'left-out' } : undefined
    })
    onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path: file }) => ({
      contents: `throw new Error('this bundle does not contain ${file}')`,
    }))
  },
})

const entries = Object.fromEntries(Object.entries(PARTS).map(([file, part]) => [part, path.join(source, file)]))
const main = path.join(source, 'main.ts')
const bundle = (entryPoints, plugins) =>
  build({
    entryPoints,
    outdir: next,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    external: ['@photostructure/sqlite'],
    minifyWhitespace: true,
    minifySyntax: true,
    define: {
      ONESHOT_VERSION: JSON.stringify(version),
      'import.meta.dirname': '__dirname',
      'import.meta.filename': '__filename',
    },
    // import() of another bundle becomes require(), which needs no loader inside a script with a code cache.
    supported: { 'dynamic-import': false },
    plugins,
    metafile: true,
    logLevel: 'warning',
  })
const [{ metafile }] = await Promise.all([
  bundle({ program: main, ...entries }, [separate]),
  ...Object.entries(COMMAND_BUNDLES).map(([name, commands]) =>
    bundle({ [name]: main }, [separate, onlyCommands(commands)]),
  ),
])
for (const name of fs.readdirSync(next)) rewrite(path.join(next, name), text => inheritImports(escapeNonAscii(text)))
for (const name of fs.readdirSync(path.join(root, 'src/shim'))) {
  fs.copyFileSync(path.join(root, 'src/shim', name), path.join(next, name))
}
fs.copyFileSync(path.join(root, 'src/world/agents/pi/drop-updates.cjs'), path.join(next, 'thin-pi.cjs'))
const CACHED = ['program', ...Object.keys(COMMAND_BUNDLES), 'daemon', 'loop']
const hashes = Object.fromEntries(CACHED.map(part => [part, hashOf(path.join(next, `${part}.cjs`))]))
const bundleOf = Object.fromEntries(
  Object.entries(COMMAND_BUNDLES).flatMap(([name, commands]) => commands.map(command => [command, name])),
)
const boot = fs.readFileSync(path.join(root, 'scripts/boot.cjs'), 'utf8')
fs.writeFileSync(
  path.join(next, 'main.cjs'),
  boot
    .replace('HASHES,', () => `${JSON.stringify(hashes)},`)
    .replace('BUNDLE_OF,', () => `${JSON.stringify(bundleOf)},`),
)
fs.writeFileSync(path.join(next, 'licenses.txt'), collectLicenses())
fs.writeFileSync(path.join(next, 'stamp'), '')

// The new build replaces the old one by renames, so that nobody runs a mix of both.
const old = `${dist}.old`
fs.rmSync(old, { recursive: true, force: true })
if (fs.existsSync(dist)) fs.renameSync(dist, old)
fs.renameSync(next, dist)
fs.rmSync(old, { recursive: true, force: true })

/** Common commands: the code caches hold the functions that they compile. */
const COMMANDS = [
  ['daemon', 'start'],
  ['run', '--name', 'cache', '--', 'true'],
  ['wait', 'cache'],
  ['status', 'cache'],
  ['list'],
  ['log', 'cache'],
  ['events', 'cache'],
  ['clean', '--yes'],
  ['daemon', 'stop'], // A supervisor that a signal ends writes no cache.
]
await collectCodeCaches()

/**
 * Runs common commands once to fill the code caches, so that a user's first command starts as fast as the next. The
 * supervisor starts with the flag that keeper.sh sets.
 */
async function collectCodeCaches() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oneshot-build-'))
  const env = { ...process.env, ONESHOT_HOME: path.join(folder, 'home'), NODE_OPTIONS: '' }
  const start = (flags, words) =>
    spawn(process.execPath, [...flags, path.join(dist, 'main.cjs'), ...words], {
      cwd: folder, // A folder outside of every repository: the session leaves nothing behind.
      env,
      stdio: 'ignore',
      timeout: 20_000,
    })
  const ended = child => new Promise(resolve => child.once('close', resolve))
  try {
    const supervisor = start(['--v8-pool-size=1'], ['__daemon'])
    const stopped = ended(supervisor)
    for (const words of COMMANDS) await ended(start([], words))
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

function rewrite(file, change) {
  fs.writeFileSync(file, change(fs.readFileSync(file, 'utf8')))
}

/** Escapes the regular expressions, which esbuild leaves as they are; the same escapes are valid there. */
function escapeNonAscii(text) {
  return text.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Replaces esbuild 0.28's conversion of a CommonJS module. The original copies every property of the module for every
 * file that imports it: a command spent a third of its own time on copies of node:fs. This one inherits them.
 */
function inheritImports(text) {
  const original =
    /__toESM=\(mod,isNodeMode,target\)=>\(target=mod!=null\?__create\(__getProtoOf\(mod\)\):\{\},__copyProps\(isNodeMode\|\|!mod\|\|!mod\.__esModule\?__defProp\(target,"default",\{value:mod,enumerable:!0\}\):target,mod\)\)/
  if (text.includes('__toESM') && !original.test(text)) throw new Error('esbuild has changed the helper __toESM')
  return text.replace(
    original,
    '__toESM=(mod,isNodeMode)=>isNodeMode||!mod.__esModule?__create(mod,{default:{value:mod}}):mod',
  )
}

function hashOf(file) {
  return crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex').slice(0, 12)
}
