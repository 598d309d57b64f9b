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

function refusalOf(deed: () => unknown): { code: string; hint: string | undefined } | undefined {
  try {
    deed()
    return undefined
  } catch (cause) {
    if (cause instanceof Refusal) return { code: cause.code, hint: cause.hint }
    throw cause
  }
}

const inside = (name: string): Home => homeAt(path.join(root, name))

test('the state folder is where the environment says', () => {
  expect(locateHome({ ONESHOT_HOME: '/a/b', XDG_STATE_HOME: '/c' }).root).toBe('/a/b')
  expect(locateHome({ XDG_STATE_HOME: '/c' }).root).toBe('/c/oneshot')
  expect(locateHome({ XDG_STATE_HOME: 'relative' }).root).toBe(path.join(os.homedir(), '.local/state/oneshot'))
})

test('a home is made with its folders, private to its user, and may be opened again', () => {
  const home = inside('deep/er')
  expect(homeExists(home)).toBe(false)
  openHome(home)
  openHome(home)
  expect(homeExists(home)).toBe(true)
  const modes = [home.root, home.mailbox, home.sessions, home.terminals].map(folder => fs.statSync(folder).mode & 0o777)
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o700])
})

test('an empty folder that somebody made for us is closed to others; one with files in it is refused', () => {
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

test('a path that is too long for a socket is refused, measured in bytes', () => {
  expect(refusalOf(() => openHome(inside('x'.repeat(90))))?.code).toBe('home-too-long')
  expect(refusalOf(() => openHome(inside('修'.repeat(30))))?.code).toBe('home-too-long')
})

test('a file in its place is refused', () => {
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
])('a failed write, %s, is refused as %s', (cause, code) => {
  expect(unusableHome('/home', cause).code).toBe(code)
})
