import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from './load-config.ts'

let root: string
let project: string
let userFile: string

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'oneshot-config-'))
  project = path.join(root, 'project')
  userFile = path.join(root, 'oneshot', 'config.toml')
  fs.mkdirSync(path.join(project, 'deep', 'inside'), { recursive: true })
  fs.mkdirSync(path.dirname(userFile))
})

afterEach(() => fs.rmSync(root, { recursive: true }))

function load(given: { env?: NodeJS.ProcessEnv; overrides?: string[]; cwd?: string } = {}) {
  const env = { XDG_CONFIG_HOME: root, ...given.env }
  return loadConfig({ env, cwd: given.cwd ?? project, overrides: given.overrides ?? [] })
}

const NOTIFICATION_DEFAULTS = {
  'on-exit': { value: null, origin: 'default', where: null },
  'on-exit-shell': { value: null, origin: 'default', where: null },
  'keep-ended': { value: null, origin: 'default', where: null },
  'notify-restarts': { value: 3, origin: 'default', where: null },
}

test('loadConfig returns the defaults without any source', async () => {
  expect(await load()).toEqual({
    agent: { value: null, origin: 'default', where: null },
    autonomy: { value: 'full', origin: 'default', where: null },
    resilient: { value: true, origin: 'default', where: null },
    checkpoints: { value: 'ref', origin: 'default', where: null },
    'project-files': { value: true, origin: 'default', where: null },
    'checkpoint-push': { value: null, origin: 'default', where: null },
    beads: { value: false, origin: 'default', where: null },
    nested: { value: false, origin: 'default', where: null },
    'checkpoint-interval': { value: 300_000, origin: 'default', where: null },
    name: { value: null, origin: 'default', where: null },
    'max-time': { value: 18_000_000, origin: 'default', where: null },
    'max-restarts': { value: 10, origin: 'default', where: null },
    'restart-window': { value: 600_000, origin: 'default', where: null },
    'restart-delay': { value: 2_000, origin: 'default', where: null },
    'restart-max-delay': { value: 64_000, origin: 'default', where: null },
    silence: { value: 'agent', origin: 'default', where: null },
    'limit-wait': { value: 86_400_000, origin: 'default', where: null },
    'resume-within': { value: 259_200_000, origin: 'default', where: null },
    'stop-grace': { value: 5_000, origin: 'default', where: null },
    memory: { value: null, origin: 'default', where: null },
    'max-output': { value: 1024 ** 3, origin: 'default', where: null },
    ...NOTIFICATION_DEFAULTS,
  })
})

test('option beats environment beats project beats user beats default, key by key', async () => {
  fs.writeFileSync(userFile, 'agent = "pi"\nname = "user"\nmax-time = "1h"\nresilient = false\n')
  const projectFile = path.join(project, '.oneshot.toml')
  fs.writeFileSync(projectFile, 'agent = "codex"\nname = "project"\nmax-time = 90\n')
  const env = { ONESHOT_AGENT: 'claude', ONESHOT_TMUX_SESSION: 'from-env', ONESHOT_RESILIENT: '' }
  const config = await load({ env, overrides: ['agent=demo'], cwd: path.join(project, 'deep', 'inside') })
  expect(config).toMatchObject({
    agent: { value: 'demo', origin: 'option', where: '-c' },
    name: { value: 'from-env', origin: 'environment', where: 'ONESHOT_TMUX_SESSION' },
    'max-time': { value: 90_000, origin: 'project', where: projectFile },
    resilient: { value: false, origin: 'user', where: userFile },
    autonomy: { value: 'full', origin: 'default', where: null },
    'checkpoint-interval': { value: 300_000, origin: 'default', where: null },
    ...NOTIFICATION_DEFAULTS,
  })
})

test('ONESHOT_CONFIG names another user file, and it must exist', async () => {
  const other = path.join(root, 'other.toml')
  await expect(load({ env: { ONESHOT_CONFIG: other } })).rejects.toMatchObject({
    code: 'config-invalid',
    message: `ONESHOT_CONFIG names ${other}, which does not exist`,
  })
  fs.writeFileSync(other, 'max-time = "none"')
  expect((await load({ env: { ONESHOT_CONFIG: other } }))['max-time']).toEqual({
    value: null,
    origin: 'user',
    where: other,
  })
})

test.each([
  [
    'agent = "cladue"',
    /^agent \(.*config\.toml\) cannot be "cladue": it must be one of claude/,
    'did you mean claude?',
  ],
  ['agnet = "claude"', /^there is no config key "agnet" \(.*config\.toml\)$/, 'did you mean agent?'],
  ['resilient = "maybe"', /^resilient .* cannot be "maybe": it must be true or false$/, /help config/],
  ['name = ["a"]', /^name .* cannot be \["a"\]/, /help config/],
  ['checkpoint-interval = 0', /must be a duration of at least 1s/, /help config/],
  ['on-exit = "say \\"hello"', /^on-exit .* must be a command whose quotes are closed/, /help config/],
  ['notify-restarts = 0', /^notify-restarts .* must be a whole number from 1 on/, /help config/],
  [
    '[notify.phone]\ntype = "ntfi"',
    /^notify\.phone \(.*config\.toml\) cannot have the type "ntfi"$/,
    'did you mean ntfy?',
  ],
  ['agent = ', /^.*config\.toml:1:\d+ is not TOML: /, /key = "value"/],
])('the refusal of the user file %j names the key, the file and the allowed values', async (text, message, hint) => {
  fs.writeFileSync(userFile, text)
  const asPattern = expect.stringMatching(hint)
  await expect(load()).rejects.toMatchObject({
    code: 'config-invalid',
    message: expect.stringMatching(message),
    hint: asPattern,
  })
})

test('the refusal of a bad variable names the variable', async () => {
  await expect(load({ env: { ONESHOT_MAX_TIME: 'soon' } })).rejects.toMatchObject({
    code: 'config-invalid',
    message: 'ONESHOT_MAX_TIME cannot be "soon": it must be a duration such as 90s, 30m or 5h, or none',
  })
})

test('loadConfig refuses a bad override, even when the value is missing', async () => {
  await expect(load({ overrides: ['agent'] })).rejects.toMatchObject({ message: '-c agent sets no value' })
  await expect(load({ overrides: ['agentt=x'] })).rejects.toMatchObject({ hint: 'did you mean agent?' })
})

test('loadConfig refuses a folder in place of a config file, and does not skip it', async () => {
  fs.mkdirSync(path.join(project, '.oneshot.toml'))
  await expect(load()).rejects.toMatchObject({
    code: 'config-invalid',
    message: expect.stringMatching(/cannot be read/),
  })
})

test('only the user sets keys that run or send something, never a project', async () => {
  for (const text of [
    'on-exit = "reboot"',
    'on-exit-shell = "reboot"',
    '[notify.x]\ntype = "command"\nrun = "reboot"',
  ]) {
    fs.writeFileSync(path.join(project, '.oneshot.toml'), text)
    await expect(load()).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringMatching(/cannot be set in a project's file .*\.oneshot\.toml.*run or send something/),
    })
  }
  fs.rmSync(path.join(project, '.oneshot.toml'))
  fs.writeFileSync(userFile, 'on-exit = "deploy --to \'my host\'"\n[notify.desk]\ntype = "desktop"\n')
  expect((await load())['on-exit'].value).toEqual(['deploy', '--to', 'my host'])
  expect((await load({ overrides: ['on-exit='] }))['on-exit'].value).toBeNull()
})
