// Runs the named steps in order and stops at the first that fails; prints only the output of failed steps.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const bin = name => path.join(root, 'node_modules', '.bin', name)

const STEPS = {
  format: [bin('biome'), 'format', '--log-level=error', '.'],
  types: [bin('tsc'), '-p', '.'],
  lint: [bin('oxlint'), '--type-aware', '--deny-warnings', '--quiet', 'src', 'test', 'bench', 'testkit'],
  walls: [bin('depcruise'), '--config', '.dependency-cruiser.cjs', 'src', 'test', 'testkit'],
  unused: [bin('knip'), '--no-progress'],
  build: [process.execPath, path.join(root, 'scripts', 'build.mjs')],
  loops: [process.execPath, path.join(root, 'scripts', 'chaos.mjs'), '--loops', '--rounds', '4', '--seed', '1'],
  chaos: [process.execPath, path.join(root, 'scripts', 'chaos.mjs'), '--kills', '200', '--seed', '1'],
}

/** Installs the dependencies if they are missing or older than the lock file. */
export function install() {
  const stamp = path.join(root, 'node_modules', '.package-lock.json')
  const lock = path.join(root, 'package-lock.json')
  if (fs.existsSync(stamp) && fs.statSync(stamp).mtimeMs >= fs.statSync(lock).mtimeMs) return
  console.log('installing dependencies …')
  run(['npm', 'install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'])
  fs.utimesSync(stamp, new Date(), new Date())
}

export function step(name) {
  const begun = Date.now()
  run(STEPS[name], name)
  console.log(`${name.padEnd(8)} ok  ${((Date.now() - begun) / 1000).toFixed(1)} s`)
}

/** A few files may fail because the machine is busy. More than that is a defect of the change. */
const MOST_AGAIN = 4

/**
 * Runs vitest and returns the numbers of passed and failed tests. Files with a failed test run once more, one at a
 * time, and the second result counts. The output names every such test: the test, or the code behind it, has a race
 * that somebody must fix.
 */
export function vitest(projects, filters = [], env = process.env) {
  const first = runVitest(projects, filters, env)
  const files = [...new Set(first.failures.map(({ file }) => file))]
  if (files.length === 0 || files.length > MOST_AGAIN || first.failures.length < first.failed) return first
  console.log(`\n${first.failed} failed; running ${files.length} of the files again, alone`)
  const second = runVitest(projects, [...files, '--maxWorkers=1'], env)
  const isStillFailing = title => second.failures.some(failure => failure.title === title)
  const recovered = first.failures.filter(({ title }) => !isStillFailing(title))
  for (const { title } of recovered) console.log(`FLAKY: failed in the whole run, passed alone: ${title}`)
  const failed = second.failed
  return { ...first, failed, passed: first.passed + first.failed - failed, failures: second.failures }
}

function runVitest(projects, filters, env) {
  const report = path.join(root, 'node_modules', `.vitest-report-${process.pid}.json`)
  const args = ['run', ...projects.flatMap(project => ['--project', project]), '--reporter=default', '--reporter=json']
  const options = { cwd: root, stdio: 'inherit', env }
  const { status } = spawnSync(bin('vitest'), [...args, `--outputFile=${report}`, ...filters], options)
  const result = fs.existsSync(report) ? JSON.parse(fs.readFileSync(report, 'utf8')) : undefined
  fs.rmSync(report, { force: true })
  const failures = (result?.testResults ?? []).flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(test => test.status === 'failed')
      .map(({ fullName }) => ({ file: name, title: `${path.relative(root, name)}: ${fullName}` })),
  )
  return {
    passed: result?.numPassedTests ?? 0,
    skipped: result?.numPendingTests ?? 0,
    failed: (result?.numFailedTests ?? 0) || (status === 0 ? 0 : 1),
    failures,
  }
}

function run(argv, name = argv.join(' ')) {
  const result = spawnSync(argv[0], argv.slice(1), { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  if (result.status === 0) return
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}\n${name} failed\n`)
  process.exit(1)
}
