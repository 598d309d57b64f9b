import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { run } from '../../src/os/run.ts'

const root = path.resolve(import.meta.dirname, '../..')
const CONFIGS = ['.dependency-cruiser.cjs', '.oxlintrc.json', 'package.json', 'tsconfig.json']

/** The checks as scripts/steps.mjs runs them, on the sources alone. */
const walls = ['depcruise', '--config', '.dependency-cruiser.cjs', 'src']
const lint = ['oxlint', '--type-aware', '--deny-warnings', '--quiet', 'src']

/** A copy of the sources, in which something can be planted. */
let copy: string
beforeEach(() => {
  copy = fs.mkdtempSync(path.join(os.tmpdir(), 'os-walls-'))
  for (const name of CONFIGS) fs.copyFileSync(path.join(root, name), path.join(copy, name))
  for (const name of ['src', 'testkit']) fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true })
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
})
afterEach(() => fs.rmSync(copy, { recursive: true, force: true }))

function plant(file: string, text: string): void {
  fs.writeFileSync(path.join(copy, file), text)
}

async function check([tool = '', ...args]: readonly string[]): Promise<{ code: number | null; output: string }> {
  const program = path.join(root, 'node_modules', '.bin', tool)
  const { code, stdout, stderr } = await run(program, args, { cwd: copy, timeout: 60_000 })
  return { code, output: stdout + stderr }
}

it('the checks run here are those of npm run check', () => {
  const steps = fs.readFileSync(path.join(root, 'scripts/steps.mjs'), 'utf8')
  for (const [tool, ...args] of [walls, lint]) {
    const words = args.map(word => `'${word}'`).join(', ')
    expect(steps).toContain(`[bin('${tool}'), ${words}`)
  }
})

it('an import through a wall, from tests, or of the outside into core is found by name', async () => {
  expect(await check(walls)).toMatchObject({ code: 0 })
  plant('src/core/planted-world.ts', "import { run } from '../os/run.ts'\nexport const planted = run\n")
  plant('src/core/planted-disk.ts', "import fs from 'node:fs'\nexport const planted = fs\n")
  plant('src/cli/planted-engine.ts', "import { Engine } from '../engine/engine.ts'\nexport const planted = Engine\n")
  plant(
    'src/engine/planted-tests.ts',
    "import { CrashInjector } from '../../testkit/in-memory/call-interceptors.ts'\nexport const planted = CrashInjector\n",
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

it('a clock, dice or a process in core, and a loose promise anywhere, are found by name', async () => {
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

it('an installation gets the very versions that were tested, also of packages that packages need', () => {
  const read = (name: string): Record<string, unknown> => JSON.parse(fs.readFileSync(path.join(root, name), 'utf8'))
  const { packages } = read('package-lock.json') as { packages: Record<string, { version: string; dev?: boolean }> }
  const used = Object.entries(packages).filter(([place, { dev }]) => place !== '' && dev !== true)
  const pinned = Object.fromEntries(used.map(([place, { version }]) => [place.replace('node_modules/', ''), version]))
  expect(read('package.json')['dependencies']).toEqual(pinned)
})
