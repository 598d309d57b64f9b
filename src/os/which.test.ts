import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { which } from './which.ts'

let root: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-which-'))
  for (const folder of ['one', 'two', 'two/tool']) fs.mkdirSync(path.join(root, folder))
  fs.writeFileSync(path.join(root, 'one', 'tool'), '', { mode: 0o755 })
  fs.writeFileSync(path.join(root, 'one', 'notes'), '', { mode: 0o644 })
  fs.writeFileSync(path.join(root, 'two', 'other'), '', { mode: 0o755 })
})
afterEach(() => fs.rmSync(root, { recursive: true }))

test('which finds a program as a shell does', () => {
  const PATH = `${root}/missing:${root}/two::${root}/one`
  const find = (program: string): string | undefined => {
    const found = which(program, { PATH }, path.join(root, 'two'))
    return found && path.relative(root, found)
  }
  expect(find('tool'), 'a folder of that name is no program').toBe('one/tool')
  expect(find('other')).toBe('two/other')
  expect(find('./other')).toBe('two/other')
  expect(find('../one/tool')).toBe('one/tool')
  expect(find('notes')).toBeUndefined()
  expect(find('./notes')).toBeUndefined()
  expect(find('')).toBeUndefined()
  expect(which('sh', {}, '/')).toMatch(/\/sh$/)
})
