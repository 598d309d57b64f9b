// Installs the pinned agent programs (test/agents/versions.json) once, outside the project, for tests and benchmarks.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { root } from './steps.mjs'

export const cache = process.env.ONESHOT_AGENTS_CACHE || path.join(os.homedir(), '.cache', 'oneshot-test-agents')
export const programs = JSON.parse(fs.readFileSync(path.join(root, 'test/agents/versions.json'), 'utf8'))

/** Installs the named programs that are missing. Throws if one cannot be installed. */
export async function installAgents(names) {
  removeLeftovers()
  const missing = names.filter(name => !fs.existsSync(folderOf(name, programs[name].version)))
  // Two installations run at a time: npm mostly waits for the network.
  const lanes = [0, 1].map(async lane => {
    for (const name of missing.filter((_, n) => n % 2 === lane)) await fetchProgram(name, programs[name])
  })
  const failed = (await Promise.allSettled(lanes)).filter(({ status }) => status === 'rejected')
  if (failed.length > 0) throw new Error(failed.map(({ reason }) => reason.message).join('\n'))
}

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
