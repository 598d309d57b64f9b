import fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'
import { sessionFolder } from './session-folder.ts'
import { readTroubleFile, removeTroubleFile, writeTroubleFile } from './repeated-trouble-file.ts'

const ID = testSessionId('aaaaaaaaaa')
const TROUBLE = { doing: 'closing the panes', count: 2, since: 1_000, reason: 'permission denied' }
let temp: TempHome
beforeEach(() => {
  temp = tempHome()
  fs.mkdirSync(sessionFolder(temp.home, ID).root, { recursive: true })
})
afterEach(() => temp.assertNoLeaks())

test('the file keeps the trouble until it is removed', () => {
  expect(readTroubleFile(temp.home, ID)).toBeNull()
  writeTroubleFile(temp.home, ID, TROUBLE)
  expect(readTroubleFile(temp.home, ID)).toEqual(TROUBLE)
  removeTroubleFile(temp.home, ID)
  removeTroubleFile(temp.home, ID)
  expect(fs.readdirSync(sessionFolder(temp.home, ID).root)).toEqual([])
})

test('a long reason does not make the file long', () => {
  writeTroubleFile(temp.home, ID, { ...TROUBLE, reason: 'é'.repeat(1_000_000) })
  expect(readTroubleFile(temp.home, ID)?.reason).toBe('é'.repeat(1_000))
})

test('a session that was removed gets no file', () => {
  writeTroubleFile(temp.home, testSessionId('removed'), TROUBLE)
  expect(fs.readdirSync(temp.home.sessions)).toEqual([ID])
})

test.each(['', '{"doing":', 'null', '{"doing":"x","count":0,"since":1,"reason":""}', '{"count":2}'])(
  'a damaged file counts as none: %s',
  text => {
    fs.writeFileSync(sessionFolder(temp.home, ID).trouble, text)
    expect(readTroubleFile(temp.home, ID)).toBeNull()
  },
)
