import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeUserKey } from './config-files.ts'

function fileWith(text?: string): { file: string; env: NodeJS.ProcessEnv; read: () => string } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-config-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'oneshot', 'config.toml')
  if (text !== undefined) {
    fs.mkdirSync(path.dirname(file))
    fs.writeFileSync(file, text, { mode: 0o640 })
  }
  return { file, env: { XDG_CONFIG_HOME: folder }, read: () => fs.readFileSync(file, 'utf8') }
}

test('writeUserKey creates a file that only its owner can read', async () => {
  const { file, env, read } = fileWith()
  expect(await writeUserKey(env, 'autonomy', 'edits')).toBe(file)
  expect(read()).toBe('autonomy = "edits"\n')
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
})

test('writeUserKey keeps comments, tables, other keys and the permissions', async () => {
  const { file, env, read } = fileWith('# mine\nmax-time = "1h" # long\n\n[notify.a]\ntype = "bell"\n')
  await writeUserKey(env, 'autonomy', 'ask')
  await writeUserKey(env, 'beads', 'on')
  expect(read()).toBe('# mine\nmax-time = "1h" # long\nautonomy = "ask"\nbeads = true\n\n[notify.a]\ntype = "bell"\n')
  await writeUserKey(env, 'max-time', '2h')
  await writeUserKey(env, 'beads', null)
  await writeUserKey(env, 'nested', null)
  expect(read()).toBe('# mine\nmax-time = "2h"\nautonomy = "ask"\n\n[notify.a]\ntype = "bell"\n')
  expect(fs.statSync(file).mode & 0o777).toBe(0o640)
})

test('writeUserKey leaves the file unchanged if the value is not allowed, or the file is invalid or not simple', async () => {
  const { env, read } = fileWith('max-time = "1h"\n')
  await expect(writeUserKey(env, 'max-time', 'soon')).rejects.toThrow('cannot be "soon"')
  expect(read()).toBe('max-time = "1h"\n')
  const broken = fileWith('max-time = \n')
  await expect(writeUserKey(broken.env, 'max-time', '1h')).rejects.toThrow('is not TOML')
  const odd = fileWith('on-exit = """\nmax-time = "3h"\n"""\n')
  await expect(writeUserKey(odd.env, 'max-time', '1h')).rejects.toThrow('cannot be changed safely')
  expect(odd.read()).toContain('3h')
})

test('writeUserKey keeps a link to a file elsewhere', async () => {
  const { file, env } = fileWith('')
  const real = path.join(path.dirname(file), 'real.toml')
  fs.renameSync(file, real)
  fs.symlinkSync(real, file)
  await writeUserKey(env, 'agent', 'demo')
  expect(fs.lstatSync(file).isSymbolicLink()).toBe(true)
  expect(fs.readFileSync(real, 'utf8')).toBe('agent = "demo"\n')
})
