// Tests with the real agent programs against a scripted model on this machine:
// npm run test:agents [-- [--quick] [PROGRAM …] [FILE …]]. A PROGRAM is a name in test/agents/versions.json.
// The script installs the pinned programs once, outside the project; the tests need no account and no key.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { install, report, root, runSteps, vitest } from './steps.mjs'

const cache = process.env.ONESHOT_AGENTS_CACHE || path.join(os.homedir(), '.cache', 'oneshot-test-agents')
const programs = JSON.parse(fs.readFileSync(path.join(root, 'test/agents/versions.json'), 'utf8'))
const words = process.argv.slice(2).filter(word => word !== '--quick')
const isName = (word, place) => word in programs && !words[place - 1]?.startsWith('-')
const chosen = words.filter(isName)
const filters = words.filter((word, place) => !isName(word, place))

install()
removeLeftovers()
const wanted = Object.entries(programs).filter(([name]) => chosen.length === 0 || chosen.includes(name))
const missing = wanted.filter(([name, { version }]) => !fs.existsSync(folderOf(name, version)))
// Two installations run at a time: npm mostly waits for the network.
const lanes = [0, 1].map(async lane => {
  for (const [name, program] of missing.filter((_, n) => n % 2 === lane)) await fetchProgram(name, program)
})
const failed = (await Promise.allSettled(lanes)).filter(({ status }) => status === 'rejected')
if (failed.length > 0) {
  for (const { reason } of failed) process.stderr.write(`${reason.message}\n`)
  process.exit(1)
}
await runSteps(['build'])
const env = {
  ...process.env,
  ONESHOT_AGENTS_CACHE: cache,
  ...(chosen.length > 0 && { ONESHOT_AGENTS: chosen.join(',') }),
  ...(process.argv.includes('--quick') && { ONESHOT_AGENTS_QUICK: '1' }),
}
report(await vitest(['agents'], filters, { env }))

function folderOf(name, version) {
  return path.join(cache, `${name}-${version}`)
}

/** Removes the folders of interrupted installations. */
function removeLeftovers() {
  for (const name of fs.existsSync(cache) ? fs.readdirSync(cache) : []) {
    const pid = /^\.passing-(\d+)-/.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid))) fs.rmSync(path.join(cache, name), { recursive: true, force: true })
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Installs into a temporary folder and renames it: a folder with the final name is always complete. */
async function fetchProgram(name, { package: title, version, command, node }) {
  const begun = Date.now()
  const folder = folderOf(name, version)
  const temporary = path.join(cache, `.passing-${process.pid}-${name}`)
  console.log(`${name}: installing ${title} ${version} …`)
  fs.mkdirSync(temporary, { recursive: true })
  fs.writeFileSync(path.join(temporary, 'package.json'), '{ "private": true }\n')
  const packages = [`${title}@${version}`, ...(node === undefined ? [] : [`node@${node}`])]
  const { code, output } = await run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages],
    temporary,
  )
  const hasProgram = fs.existsSync(path.join(temporary, 'node_modules', '.bin', command))
  if (code !== 0 || !hasProgram) {
    fs.rmSync(temporary, { recursive: true, force: true })
    throw new Error(`could not install ${title} ${version} (npm exit ${code}); npm's last words:\n${lastLines(output)}`)
  }
  put(temporary, folder)
  const seconds = ((Date.now() - begun) / 1000).toFixed(0)
  console.log(`${name}: installed in ${seconds} s, ${megabytes(folder)} MB`)
}

/** Renames the folder. If another run has installed the same program meanwhile, uses that one. */
function put(temporary, folder) {
  try {
    fs.renameSync(temporary, folder)
  } catch (cause) {
    fs.rmSync(temporary, { recursive: true, force: true })
    if (!fs.existsSync(folder)) throw cause
  }
}

function run(program, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => chunks.push(chunk))
    child.on('error', reject)
    child.on('close', code => resolve({ code, output: Buffer.concat(chunks).toString() }))
  })
}

function lastLines(text) {
  return text
    .trimEnd()
    .split('\n')
    .slice(-15)
    .map(line => `  ${line}`)
    .join('\n')
}

/** Returns the size of a folder. Some packages hard-link their program to a second name, so each inode counts once. */
function megabytes(folder) {
  const files = fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => fs.statSync(path.join(entry.parentPath ?? entry.path, entry.name)))
  const sizes = new Map(files.map(({ ino, size }) => [ino, size]))
  return Math.round([...sizes.values()].reduce((sum, size) => sum + size, 0) / 1e6)
}
