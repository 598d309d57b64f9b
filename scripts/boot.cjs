// dist/main.cjs: runs the bundle beside it with V8's code cache, which takes a third off the start of every command.
// The cache is named after the bundle's content and the Node that made it, because V8 itself compares only lengths.
const fs = require('node:fs')
const Module = require('node:module')
const path = require('node:path')
const vm = require('node:vm')

const bundle = path.join(__dirname, 'program.cjs')
const cache = path.join(__dirname, `program.HASH.${process.version}-${process.arch}.cache`)

const script = new vm.Script(Module.wrap(fs.readFileSync(bundle, 'utf8')), {
  filename: bundle,
  cachedData: read(cache),
})
const program = new Module(bundle, module)
program.filename = bundle
program.paths = module.paths
script
  .runInThisContext()
  .call(program.exports, program.exports, Module.createRequire(bundle), program, bundle, __dirname)

// The first command with this Node leaves a cache for the next ones. Where it may not write, all stays as it is.
if (script.cachedDataRejected !== false) process.on('exit', () => write(cache, script.createCachedData()))

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
    fs.renameSync(`${file}.${process.pid}`, file)
  } catch {
    // Installed by another user, or a full disk.
  }
}
