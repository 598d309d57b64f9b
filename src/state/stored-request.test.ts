import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { attemptFolderAt } from './session-folder.ts'
import { readRequest, ROOM_FOR_REQUEST, storeRequest } from './stored-request.ts'

let root: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'oneshot-request-'))
})
afterEach(() => fs.rmSync(root, { recursive: true }))

test.each([
  { type: 'stop', by: null },
  { type: 'hold', by: 'fix-auth' },
] as const)('readRequest returns the stored request, and the file keeps its size', request => {
  const folder = attemptFolderAt(root)
  fs.writeFileSync(folder.request, ROOM_FOR_REQUEST)
  expect(readRequest(folder)).toBe(null)
  expect(storeRequest(folder, request)).toBe(true)
  expect(readRequest(folder)).toEqual(request)
  expect(fs.statSync(folder.request).size).toBe(ROOM_FOR_REQUEST.length)
})

test.each(['', 'stop', 'stop\nen', 'stop\n\n\n', 'explode\nend\n'])(
  'a file with the content %j is no request',
  text => {
    const folder = attemptFolderAt(root)
    fs.writeFileSync(folder.request, text)
    expect(readRequest(folder)).toBe(null)
  },
)

test('a request drops a text that is no session name', () => {
  const folder = attemptFolderAt(root)
  storeRequest(folder, { type: 'stop', by: 'a\nend\n' })
  expect(readRequest(folder)).toEqual({ type: 'stop', by: null })
})

test('storeRequest returns false if the attempt’s folder is gone', () => {
  expect(storeRequest(attemptFolderAt(path.join(root, 'gone')), { type: 'stop', by: null })).toBe(false)
})
