// The steps of the checks and test runs. A step prints its duration, and its output only if it fails.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const bin = name => path.join(root, 'node_modules', '.bin', name)

const CHAOS = [process.execPath, path.join(root, 'scripts', 'chaos.mjs'), '--seed', '1']

const STEPS = {
  format: [bin('biome'), 'format', '--log-level=error', '.'],
  types: [bin('tsc'), '-p', '.'],
  purity: [bin('tsc'), '-p', 'tsconfig.pure.json'],
  lint: [bin('oxlint'), '--type-aware', '--deny-warnings', '--quiet', 'src', 'test', 'bench', 'testkit'],
  walls: [bin('depcruise'), '--config', '.dependency-cruiser.cjs', 'src', 'test', 'testkit'],
  unused: [bin('knip'), '--no-progress'],
  build: [process.execPath, path.join(root, 'scripts', 'build.mjs')],
  'short chaos': [...CHAOS, '--kills', '20'],
  chaos: [...CHAOS, '--kills', '200'],
  loops: [...CHAOS, '--loops', '--rounds', '4'],
}

/** Checks that read the sources and run nothing. */
export const STATIC_STEPS = ['format', 'types', 'purity', 'lint', 'walls', 'unused']

/** The tag of the cases that `npm run test:all` runs and `npm test` leaves out. */
const EXTENDED = 'extended'

/** Installs the dependencies if they are missing or older than the lock file. */
export function install() {
  const stamp = path.join(root, 'node_modules', '.package-lock.json')
  const lock = path.join(root, 'package-lock.json')
  if (fs.existsSync(stamp) && fs.statSync(stamp).mtimeMs >= fs.statSync(lock).mtimeMs) return
  console.log('installing dependencies …')
  run(['npm', 'install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'])
  fs.utimesSync(stamp, new Date(), new Date())
}

/** Runs these steps one after the other; ends this program with exit code 1 if one fails. */
export async function runSteps(names) {
  for (const name of names) {
    const failure = await step(name)
    if (failure === undefined) continue
    process.stderr.write(failure)
    process.exit(1)
  }
}

/** Runs a step and returns its output if it fails. */
export async function step(name) {
  const begun = Date.now()
  const [program, ...args] = STEPS[name]
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => chunks.push(chunk))
  const code = await new Promise(resolve => {
    child.on('error', cause => {
      chunks.push(Buffer.from(`${cause.message}\n`))
      resolve(null)
    })
    child.on('close', resolve)
  })
  const seconds = ((Date.now() - begun) / 1000).toFixed(1)
  console.log(`${name.padEnd(11)} ${code === 0 ? 'ok' : 'FAILED'}  ${seconds} s`)
  return code === 0 ? undefined : `${Buffer.concat(chunks).toString()}\n${name} failed\n`
}

/** A few files may fail because the machine is busy. More than that is a defect of the change. */
const MOST_AGAIN = 4

/**
 * Runs vitest and returns the numbers of passed and failed tests. Files with a failed test run once more, one at a
 * time, and the second result counts. The output names every such test: the test, or the code behind it, has a race
 * that somebody must fix. With `isShort`, vitest leaves out the extended cases.
 */
export async function vitest(projects, filters = [], { env = process.env, isShort = false } = {}) {
  const options = isShort ? [`--tags-filter=!${EXTENDED}`] : []
  const first = await runVitest(projects, [...filters, ...options], env)
  const files = [...new Set(first.failures.map(({ file }) => file))]
  if (files.length === 0 || files.length > MOST_AGAIN || first.failures.length < first.failed) return first
  console.log(`\n${first.failed} failed; running ${files.length} of the files again, alone`)
  const second = await runVitest(projects, [...files, ...options, '--maxWorkers=1'], env)
  const isStillFailing = title => second.failures.some(failure => failure.title === title)
  const recovered = first.failures.filter(({ title }) => !isStillFailing(title))
  for (const { title } of recovered) console.log(`FLAKY: failed in the whole run, passed alone: ${title}`)
  const failed = second.failed
  return { ...first, failed, passed: first.passed + first.failed - failed, failures: second.failures }
}

/** Prints the numbers of a test run, and sets the exit code of this program. */
export function report({ passed, failed, skipped, extended }, isSuccess = true) {
  if (extended > 0) console.log(`${extended} extended cases run only in npm run test:all`)
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exitCode = isSuccess && failed === 0 && passed > 0 ? 0 : 1
}

async function runVitest(projects, filters, env) {
  const file = path.join(root, 'node_modules', `.vitest-report-${process.pid}.json`)
  const args = ['run', ...projects.flatMap(project => ['--project', project]), '--reporter=default', '--reporter=json']
  const child = spawn(bin('vitest'), [...args, `--outputFile=${file}`, ...filters], {
    cwd: root,
    stdio: 'inherit',
    env,
  })
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  const result = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined
  fs.rmSync(file, { force: true })
  const tests = (result?.testResults ?? []).flatMap(({ name, assertionResults }) =>
    assertionResults.map(test => ({ ...test, file: name, title: `${path.relative(root, name)}: ${test.fullName}` })),
  )
  const isShort = filters.some(word => word.startsWith('--tags-filter'))
  const extended = isShort ? tests.filter(({ tags }) => tags.includes(EXTENDED)).length : 0
  return {
    passed: result?.numPassedTests ?? 0,
    extended,
    skipped: Math.max(0, (result?.numPendingTests ?? 0) - extended),
    failed: (result?.numFailedTests ?? 0) || (code === 0 ? 0 : 1),
    failures: tests.filter(({ status }) => status === 'failed').map(({ file, title }) => ({ file, title })),
  }
}

function run(argv) {
  const result = spawnSync(argv[0], argv.slice(1), { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  if (result.status === 0) return
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}`
  process.stderr.write(`${output}\n${argv.join(' ')} failed\n`)
  process.exit(1)
}
