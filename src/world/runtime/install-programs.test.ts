import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { homeAt, openHome } from '../../state/home.ts'
import { installPrograms } from './install-programs.ts'

test('a new supervisor installs the shim and the recorder again if a power failure left them empty', () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-'))
  onTestFinished(() => fs.rmSync(root, { recursive: true }))
  const home = homeAt(path.join(root, 'home'))
  openHome(home)
  const files = Object.values(installPrograms(home))
  const contents = files.map(file => fs.readFileSync(file, 'utf8'))
  for (const file of files) fs.truncateSync(file)
  expect(Object.values(installPrograms(home))).toEqual(files)
  expect(files.map(file => fs.readFileSync(file, 'utf8'))).toEqual(contents)
  expect(contents.every(text => text.length > 0)).toBe(true)
})
