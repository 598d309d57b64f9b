import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Key } from '../../src/api/config/key-definition.ts'
import { KEYS } from '../../src/api/config/keys.ts'
import { type Config, loadConfig } from '../../src/api/config/load-config.ts'
import { run } from '../../src/os/run.ts'
import { MAIN } from '../system/test-home.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = 65_534

let root: string
let clone: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-'))
  clone = path.join(root, 'shared', 'clone')
  fs.mkdirSync(path.join(clone, 'deep'), { recursive: true })
  fs.mkdirSync(path.join(root, 'oneshot'))
})
afterEach(() => fs.rmSync(root, { recursive: true }))

const load = (cwd = clone): Promise<Config> =>
  loadConfig({ env: { XDG_CONFIG_HOME: root, HOME: root }, cwd, overrides: [] })
const mine = (toml: string): void => fs.writeFileSync(path.join(root, 'oneshot', 'config.toml'), toml)
const theirs = (toml: string, folder = clone): string => {
  const file = path.join(folder, '.oneshot.toml')
  fs.writeFileSync(file, toml)
  return file
}

it.each([
  ['autonomy', '"ask"', '"full"', 'ask'],
  ['autonomy', '"edits"', '"full"', 'edits'],
  ['resilient', 'true', 'false', true],
  ['checkpoints', '"branch"', '"off"', 'branch'],
  ['checkpoint-interval', '"1m"', '"900h"', 60_000],
  ['project-files', 'false', 'true', false],
  ['max-time', '"1h"', '"none"', 3_600_000],
  ['max-restarts', '2', '999999', 2],
  ['silence', '"1m"', '"none"', 60_000],
  ['limit-wait', '"off"', '"none"', 0],
  ['resume-within', '"1h"', '"none"', 3_600_000],
  ['memory', '"512M"', '"none"', 512 * 1024 ** 2],
  ['memory', '"512M"', '"64G"', 512 * 1024 ** 2],
  ['max-output', '"100M"', '"none"', 100 * 1024 ** 2],
  ['max-output', '"100M"', '"900G"', 100 * 1024 ** 2],
  ['notify-restarts', '1', '99999', 1],
] as const)('a clone cannot raise %s from %s to %s', async (key, own, project, expected) => {
  mine(`${key} = ${own}\n`)
  theirs(`${key} = ${project}\n`)
  const { value, origin } = (await load())[key]
  expect({ value, origin }).toEqual({ value: expected, origin: 'user' })
})

it('a clone cannot weaken the defaults where the user has chosen nothing, and `origin` stays default', async () => {
  theirs('autonomy = "full"\nresilient = false\ncheckpoints = "off"\nmax-time = "none"\nsilence = "none"\n')
  const { autonomy, resilient, checkpoints, silence, 'max-time': maxTime } = await load()
  expect([autonomy, resilient, checkpoints, maxTime, silence].map(({ value, origin }) => [value, origin])).toEqual([
    ['full', 'default'],
    [true, 'default'],
    ['ref', 'default'],
    [18_000_000, 'default'],
    ['agent', 'default'],
  ])
})

it('a project file alone decides only about the keys agent and name', () => {
  const keys = Object.entries(KEYS as Readonly<Record<string, Key<unknown>>>)
  const free = keys.filter(([, { isPersonal, withProject }]) => isPersonal !== true && withProject === undefined)
  expect(free.map(([name]) => name)).toEqual(['agent', 'name'])
})

it('a project file may lower rights and limits, and the configuration names that file as their origin', async () => {
  const file = theirs('autonomy = "ask"\nmax-time = "1m"\nmemory = "1G"\nsilence = "1m"\ncheckpoints = "branch"\n')
  const config = await load(path.join(clone, 'deep'))
  for (const key of ['autonomy', 'max-time', 'memory', 'silence', 'checkpoints'] as const)
    expect(config[key]).toMatchObject({ origin: 'project', where: file })
})

it('the configuration ignores a project file above the repository, above HOME or in a folder that anybody may write to', async () => {
  theirs('autonomy = "ask"\n', path.join(root, 'shared'))
  expect((await load()).autonomy.origin).toBe('project')
  fs.mkdirSync(path.join(clone, '.git'))
  expect((await load(path.join(clone, 'deep'))).autonomy.origin).toBe('default')
  fs.rmdirSync(path.join(clone, '.git'))
  fs.chmodSync(path.join(root, 'shared'), 0o1777)
  expect((await load()).autonomy.origin).toBe('default')
  fs.chmodSync(path.join(root, 'shared'), 0o755)
  const config = await loadConfig({ env: { XDG_CONFIG_HOME: root, HOME: clone }, cwd: clone, overrides: [] })
  expect(config.autonomy.origin).toBe('default')
})

it.skipIf(!isRoot)(
  'the configuration ignores a project file of another user, and another user’s link to a file of ours',
  async () => {
    const file = theirs('autonomy = "ask"\n')
    fs.chownSync(file, NOBODY, NOBODY)
    expect((await load()).autonomy.origin).toBe('default')
    fs.rmSync(file)
    fs.writeFileSync(path.join(root, 'ours'), 'autonomy = "ask"\n')
    fs.symlinkSync(path.join(root, 'ours'), file)
    fs.lchownSync(file, NOBODY, NOBODY)
    expect((await load()).autonomy.origin).toBe('default')
  },
)

it('the reader of project files refuses pipes, devices, dangling links, folders and endless files at once', async () => {
  const file = path.join(clone, '.oneshot.toml')
  const makers = [
    async () => fs.symlinkSync('/dev/zero', file),
    async () => fs.symlinkSync(path.join(root, 'nothing'), file),
    async () => void (await run('mkfifo', [file], {})),
    async () => fs.writeFileSync(file, '#'.repeat(65_537)),
    async () => fs.mkdirSync(file),
  ]
  for (const make of makers) {
    await make()
    const env = { ...process.env, HOME: root, XDG_CONFIG_HOME: root, ONESHOT_HOME: path.join(root, 'home') }
    const answer = await run(process.execPath, ['--max-old-space-size=100', MAIN, 'config'], {
      cwd: clone,
      env,
      timeout: 20_000,
    })
    expect(answer).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read') })
    fs.rmSync(file, { recursive: true })
  }
})
