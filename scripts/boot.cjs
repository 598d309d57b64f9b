// dist/main.cjs: runs one of the bundles beside it with V8's code cache, which makes a command start in two thirds of
// the time. Each bundle has a cache for each Node version and each set of V8 flags, because V8 rejects a cache made
// with other flags.
const fs = require('node:fs')
const Module = require('node:module')
const path = require('node:path')
const vm = require('node:vm')

/** The programs that oneshot starts itself: their bundle and entry function. */
const PROGRAMS = {
  __daemon: ['daemon', program => program.daemon()],
  '__demo-agent': ['demo-agent', program => program.demoAgent(process.argv.slice(3))],
  __loop: ['loop', program => program.runLoop(process.argv.slice(3))],
}

const [part, enter] = PROGRAMS[process.argv[2]] ?? ['program', program => program.main()]
enter(load(part, HASHES[part]))

function load(name, hash) {
  const bundle = path.join(__dirname, `${name}.cjs`)
  if (hash === undefined) return require(bundle)
  const flags = process.execArgv.length === 0 ? '' : `.${digest(process.execArgv.join(' '))}`
  const cache = path.join(__dirname, `${name}.${hash}.${process.version}-${process.arch}${flags}.cache`)
  // The build leaves only ASCII in a bundle, so that V8 keeps one byte per character.
  const script = new vm.Script(Module.wrap(fs.readFileSync(bundle, 'latin1')), {
    filename: bundle,
    cachedData: read(cache),
  })
  const loaded = new Module(bundle, module)
  loaded.filename = bundle
  loaded.paths = module.paths
  script
    .runInThisContext()
    .call(loaded.exports, loaded.exports, Module.createRequire(bundle), loaded, bundle, __dirname)
  // The build collects the functions that several commands compile. Later, the first command under another Node version
  // writes a cache for the next ones; without permission to write, commands run without a cache.
  if (script.cachedDataRejected !== false || process.env.ONESHOT_CODE_CACHE === 'collect')
    process.on('exit', () => write(cache, script.createCachedData()))
  return loaded.exports
}

/** Hashes V8 flags. Commands have no flags, so they never load node:crypto, which takes several milliseconds. */
function digest(text) {
  const crypto = require('node:crypto')
  return crypto.createHash('sha256').update(text).digest('hex').slice(0, 8)
}

function read(file) {
  try {
    return fs.readFileSync(file)
  } catch {
    return undefined
  }
}

function write(file, data) {
  try {
    fs.writeFileSync(`${file}.${process.pid}`, data)
    // The supervisor's umask is 077, but other users start this program too.
    fs.chmodSync(`${file}.${process.pid}`, 0o644)
    fs.renameSync(`${file}.${process.pid}`, file)
  } catch {
    // Another user has installed the program, or the disk is full.
  }
}
