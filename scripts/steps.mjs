// Runs the named steps one after the other and stops at the first that fails, showing only what failed.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const bin = name => path.join(root, 'node_modules', '.bin', name)

const STEPS = {
  format: [bin('biome'), 'format', '--log-level=error', '.'],
  types: [bin('tsc'), '-p', '.'],
  lint: [bin('oxlint'), '--type-aware', '--deny-warnings', '--quiet', 'src', 'test', 'bench'],
  walls: [bin('depcruise'), '--config', '.dependency-cruiser.cjs', 'src', 'test'],
  unused: [bin('knip'), '--no-progress'],
  build: [process.execPath, path.join(root, 'scripts', 'build.mjs')],
  loops: [process.execPath, path.join(root, 'scripts', 'chaos.mjs'), '--loops', '--rounds', '4', '--seed', '1'],
  chaos: [process.execPath, path.join(root, 'scripts', 'chaos.mjs'), '--kills', '200', '--seed', '1'],
}

/** Installs the dependencies when they are missing or older than the lock file. */
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

/** Runs vitest and answers how many tests passed and failed. */
export function vitest(projects, filters = []) {
  const report = path.join(root, 'node_modules', `.vitest-report-${process.pid}.json`)
  const chosen = projects.flatMap(project => ['--project', project])
  const args = [
    bin('vitest'),
    'run',
    ...chosen,
    '--reporter=default',
    '--reporter=json',
    `--outputFile=${report}`,
    ...filters,
  ]
  const { status } = spawnSync(args[0], args.slice(1), { cwd: root, stdio: 'inherit' })
  const result = fs.existsSync(report) ? JSON.parse(fs.readFileSync(report, 'utf8')) : undefined
  fs.rmSync(report, { force: true })
  const passed = result?.numPassedTests ?? 0
  const skipped = result?.numPendingTests ?? 0
  const failed = (result?.numFailedTests ?? 0) || (status === 0 ? 0 : 1)
  return { passed, failed, skipped }
}

function run(argv, name = argv.join(' ')) {
  const result = spawnSync(argv[0], argv.slice(1), { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  if (result.status === 0) return
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}\n${name} failed\n`)
  process.exit(1)
}
