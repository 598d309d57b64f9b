import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { run } from '../../src/os/run.ts'

const root = path.resolve(import.meta.dirname, '../..')
const CONFIGS = ['.dependency-cruiser.cjs', '.oxlintrc.json', 'package.json', 'tsconfig.json', 'tsconfig.pure.json']

/** The checks as scripts/steps.mjs runs them, on the sources alone. */
const walls = ['depcruise', '--config', '.dependency-cruiser.cjs', 'src']
const purity = ['tsc', '-p', 'tsconfig.pure.json']
const lint = ['oxlint', '--type-aware', '--deny-warnings', '--quiet', 'src']

/** Modules of the rooms that the planted files import. */
const MODULES = {
  'src/os/run.ts': 'export const run = 1\n',
  'src/engine/engine.ts': 'export const engine = 1\n',
  'src/core/decide.ts': 'export const decide = 1\n',
  'src/cli/main.ts': 'export const main = 1\n',
  'src/lib/time.ts': 'export const time = 1\n',
  'testkit/in-memory/call-interceptors.ts': 'export const interceptor = 1\n',
}

/** A small tree with the configuration of this one, in which a test can plant something. */
let tree: string
beforeEach(() => {
  tree = fs.mkdtempSync(path.join(os.tmpdir(), 'os-walls-'))
  for (const name of CONFIGS) fs.copyFileSync(path.join(root, name), path.join(tree, name))
  for (const [file, text] of Object.entries(MODULES)) plant(file, text)
  plant('scripts/pure-globals.d.ts', fs.readFileSync(path.join(root, 'scripts/pure-globals.d.ts'), 'utf8'))
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(tree, 'node_modules'))
})
afterEach(() => fs.rmSync(tree, { recursive: true, force: true }))

function plant(file: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(tree, file)), { recursive: true })
  fs.writeFileSync(path.join(tree, file), text)
}

async function check([tool = '', ...args]: readonly string[]): Promise<{ code: number | null; output: string }> {
  const program = path.join(root, 'node_modules', '.bin', tool)
  const { code, stdout, stderr } = await run(program, args, { cwd: tree, timeout: 60_000 })
  return { code, output: stdout + stderr }
}

it('this test runs the same checks as npm run check', () => {
  const steps = fs.readFileSync(path.join(root, 'scripts/steps.mjs'), 'utf8')
  for (const [tool, ...args] of [walls, purity, lint]) {
    const words = args.map(word => `'${word}'`).join(', ')
    expect(steps).toContain(`[bin('${tool}'), ${words}`)
  }
})

it('the walls check names an import across a wall, from tests, of the outside into core, or in a cycle', async () => {
  expect(await check(walls)).toMatchObject({ code: 0 })
  plant('src/core/planted-world.ts', "import { run } from '../os/run.ts'\nexport const planted = run\n")
  plant('src/core/planted-disk.ts', "import fs from 'node:fs'\nexport const planted = fs\n")
  plant('src/cli/planted-engine.ts', "import { engine } from '../engine/engine.ts'\nexport const planted = engine\n")
  plant(
    'src/engine/planted-tests.ts',
    "import { interceptor } from '../../testkit/in-memory/call-interceptors.ts'\nexport const planted = interceptor\n",
  )
  plant('src/lib/planted-one.ts', "import { two } from './planted-two.ts'\nexport const one = () => two\n")
  plant('src/lib/planted-two.ts', "import { one } from './planted-one.ts'\nexport const two = () => one\n")
  const { code, output } = await check(walls)
  expect(code).not.toBe(0)
  const named = output.split('\n').filter(line => line.includes('error'))
  for (const violation of [
    /wall-of-core: src\/core\/planted-world\.ts → src\/os\/run\.ts/,
    /core-is-pure: src\/core\/planted-disk\.ts → (node:)?fs/,
    /wall-of-cli: src\/cli\/planted-engine\.ts → src\/engine\/engine\.ts/,
    /nobody-imports-tests: src\/engine\/planted-tests\.ts → testkit\/in-memory\/call-interceptors\.ts/,
    /no-cycles: src\/lib\/planted-(one|two)\.ts → /,
  ]) {
    expect(named).toContainEqual(expect.stringMatching(violation))
  }
})

it('the compiler names each file in a pure room that uses the outside', async () => {
  expect(await check(purity)).toEqual({ code: 0, output: '' })
  plant('src/core/planted-random.ts', 'export const planted = (): string => crypto.randomUUID()\n')
  plant('src/core/planted-microtask.ts', 'export const planted = (): void => queueMicrotask(() => undefined)\n')
  plant('src/ports/planted-stream.ts', "import type { Readable } from 'node:stream'\nexport type Planted = Readable\n")
  plant('src/lib/planted-timer.ts', 'export const planted = (): unknown => setImmediate(() => undefined)\n')
  plant('src/api/contract/planted-pid.ts', 'export const planted = (): number => process.pid\n')
  const { code, output } = await check(purity)
  expect(code).not.toBe(0)
  for (const file of [
    'core/planted-random',
    'core/planted-microtask',
    'ports/planted-stream',
    'lib/planted-timer',
    'api/contract/planted-pid',
  ]) {
    expect(output).toContain(`src/${file}.ts`)
  }
})

it('the lint names a clock, dice, timer or process in core, and a loose promise', async () => {
  expect(await check(lint)).toMatchObject({ code: 0 })
  plant('src/core/planted-clock.ts', 'export const planted = (): number => Date.now()\n')
  plant('src/core/planted-dice.ts', 'export const planted = (): number => Math.random()\n')
  plant('src/core/planted-timer.ts', 'export const planted = (): unknown => setTimeout(() => undefined, 1)\n')
  plant('src/core/planted-pid.ts', 'export const planted = (): number => process.pid\n')
  plant('src/engine/planted-promise.ts', 'export function planted(work: () => Promise<void>): void {\n  work()\n}\n')
  const { code, output } = await check(lint)
  expect(code).not.toBe(0)
  for (const file of [
    'core/planted-clock',
    'core/planted-dice',
    'core/planted-timer',
    'core/planted-pid',
    'engine/planted-promise',
  ]) {
    expect(output).toContain(`src/${file}.ts`)
  }
  expect(output).toContain('no-floating-promises')
  expect(output).toContain('no-restricted-globals')
  expect(output).toContain('no-restricted-properties')
})

it('package.json pins the tested version of each dependency, also of indirect ones', () => {
  const read = (name: string): Record<string, unknown> => JSON.parse(fs.readFileSync(path.join(root, name), 'utf8'))
  const { packages } = read('package-lock.json') as { packages: Record<string, { version: string; dev?: boolean }> }
  const used = Object.entries(packages).filter(([place, { dev }]) => place !== '' && dev !== true)
  const pinned = Object.fromEntries(used.map(([place, { version }]) => [place.replace('node_modules/', ''), version]))
  expect(read('package.json')['dependencies']).toEqual(pinned)
})
