// dist/main.cjs: runs one of the bundles beside it with V8's code cache, which makes a command start in two thirds of
// the time. A cache holds the functions that earlier commands compiled, and names these commands. It only grows.
const fs = require('node:fs')
const path = require('node:path')
const vm = require('node:vm')

/** The programs that oneshot starts itself: their bundle and entry function. */
const PROGRAMS = {
  __daemon: ['daemon', program => program.daemon()],
  '__demo-agent': ['demo-agent', program => program.demoAgent(process.argv.slice(3))],
  __loop: ['loop', program => program.runLoop(process.argv.slice(3))],
}

/** The flags of the supervisor, by keeper.sh; all else starts without flags. */
const FLAGS = { daemon: '--v8-pool-size=1' }

/** V8's factor for the growth of the young generation. */
const DEFAULT_GROWTH = 2

const command = process.argv[2] ?? ''
const [part, enter] = own(PROGRAMS, command) ?? [own(BUNDLE_OF, command) ?? 'program', program => program.main()]
enter(load(part, own(HASHES, part)))

/** A word such as `constructor` is no entry of a table. */
function own(table, key) {
  return Object.hasOwn(table, key) ? table[key] : undefined
}

function load(name, hash) {
  const bundle = path.join(__dirname, `${name}.cjs`)
  if (hash === undefined) return require(bundle)
  const file = path.join(__dirname, `${name}.${hash}.${process.version}-${process.arch}.cache`)
  const { code, commands } = readCache(file)
  // The build leaves only ASCII in a bundle, so that V8 keeps one byte per character.
  const source = `(function (require, module, __filename, __dirname) {${fs.readFileSync(bundle, 'latin1')}\n})`
  const script = new vm.Script(source, { filename: bundle, cachedData: code })
  const loaded = { exports: {} }
  script.runInThisContext()(require, loaded, bundle, __dirname)
  if (name === 'daemon') setYoungGenerationGrowth(1)
  const known = script.cachedDataRejected === false ? commands : []
  if (!known.includes(command) && hasUsualFlags(name)) {
    process.on('exit', status => {
      if (status !== 0) return
      if (name === 'daemon') setYoungGenerationGrowth(DEFAULT_GROWTH)
      writeCache(file, { code: script.createCachedData(), commands: [...known, command] })
    })
  }
  return loaded.exports
}

/**
 * A supervisor makes little garbage: a young generation that does not grow saves 10 MB. A V8 flag on the command line
 * would do the same, but V8 accepts a code cache only under the flags that it was made with, and Node's own modules
 * have a cache too: without it a supervisor takes 15 ms more to start.
 */
function setYoungGenerationGrowth(factor) {
  require('node:v8').setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}

/** A process with other flags may use the cache, if V8 accepts it, and never replaces it. */
function hasUsualFlags(name) {
  return process.execArgv.join(' ') === (FLAGS[name] ?? '') && !process.env.NODE_OPTIONS
}

/** The file ends with the names of the commands as JSON, and the length of that text as four bytes. */
function readCache(file) {
  try {
    const bytes = fs.readFileSync(file)
    const end = bytes.length - 4
    const start = end - bytes.readUInt32LE(end)
    return { code: bytes.subarray(0, start), commands: JSON.parse(bytes.latin1Slice(start, end)) }
  } catch {
    return { commands: [] } // No command has written it yet, or not this version of Node.
  }
}

/**
 * Without permission to write, commands run without a cache. V8 crashes on a damaged cache (Node 20), so a power failure
 * must not leave one.
 */
function writeCache(file, { code, commands }) {
  const names = Buffer.from(JSON.stringify(commands))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(names.length)
  const draft = `${file}.${process.pid}`
  try {
    const descriptor = fs.openSync(draft, 'w')
    fs.writeFileSync(descriptor, Buffer.concat([code, names, length]))
    // The supervisor's umask is 077, but other users start this program too.
    fs.fchmodSync(descriptor, 0o644)
    fs.fsyncSync(descriptor)
    fs.closeSync(descriptor)
    fs.renameSync(draft, file)
  } catch {
    // Another user has installed the program, or the disk is full.
  }
}
