import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Refusal } from '../lib/errors.ts'
import { type Home, homeAt, homeExists, locateHome, openHome, unusableHome } from './home.ts'

let root: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-home-'))
})
afterEach(() => fs.rmSync(root, { recursive: true }))

function refusalOf(action: () => unknown): { code: string; hint: string | undefined } | undefined {
  try {
    action()
    return undefined
  } catch (cause) {
    if (cause instanceof Refusal) return { code: cause.code, hint: cause.hint }
    throw cause
  }
}

const inside = (name: string): Home => homeAt(path.join(root, name))

test('locateHome takes the state folder from the environment', () => {
  expect(locateHome({ ONESHOT_HOME: '/a/b', XDG_STATE_HOME: '/c' }).root).toBe('/a/b')
  expect(locateHome({ XDG_STATE_HOME: '/c' }).root).toBe('/c/oneshot')
  expect(locateHome({ XDG_STATE_HOME: 'relative' }).root).toBe(path.join(os.homedir(), '.local/state/oneshot'))
})

test('openHome creates the home with its folders, private to its user, and opens it again', () => {
  const home = inside('deep/er')
  expect(homeExists(home)).toBe(false)
  openHome(home)
  openHome(home)
  expect(homeExists(home)).toBe(true)
  const modes = [home.root, home.mailbox, home.sessions, home.terminals].map(folder => fs.statSync(folder).mode & 0o777)
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o700])
})

test('openHome restricts an empty folder to its user and refuses a readable folder with files', () => {
  fs.mkdirSync(path.join(root, 'empty'), { mode: 0o755 })
  openHome(inside('empty'))
  expect(fs.statSync(path.join(root, 'empty')).mode & 0o777).toBe(0o700)
  fs.mkdirSync(path.join(root, 'full'))
  fs.writeFileSync(path.join(root, 'full', 'file'), '')
  fs.chmodSync(path.join(root, 'full'), 0o755)
  const refused = { code: 'home-unsafe', hint: `chmod 700 ${path.join(root, 'full')}` }
  expect(refusalOf(() => openHome(inside('full')))).toEqual(refused)
  expect(refusalOf(() => homeExists(inside('full')))).toEqual(refused)
})

test('openHome refuses a path that has too many bytes for a socket', () => {
  expect(refusalOf(() => openHome(inside('x'.repeat(90))))?.code).toBe('home-too-long')
  expect(refusalOf(() => openHome(inside('修'.repeat(30))))?.code).toBe('home-too-long')
})

test('openHome refuses a file in place of the folder', () => {
  fs.writeFileSync(path.join(root, 'file'), '')
  expect(refusalOf(() => openHome(inside('file')))?.code).toBe('home-unusable')
  expect(refusalOf(() => openHome(inside('file/below')))?.code).toBe('home-unusable')
})

test.each([
  [Object.assign(new Error('x'), { code: 'ENOSPC' }), 'disk-full'],
  [new Error('database or disk is full'), 'disk-full'],
  [Object.assign(new Error('x'), { code: 'EROFS' }), 'home-unusable'],
  [new Error('attempt to write a readonly database'), 'home-unusable'],
  [new Error('whatever'), 'home-unusable'],
])('unusableHome turns a failed write, %s, into the refusal %s', (cause, code) => {
  expect(unusableHome('/home', cause).code).toBe(code)
})
