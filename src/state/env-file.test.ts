import fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'
import { findEnvironment, readEnvironment, writeEnvironment } from './env-file.ts'
import { sessionFolder } from './session-folder.ts'

const ID = testSessionId('aaaaaaaaaa')
let temp: TempHome
beforeEach(() => {
  temp = tempHome()
  fs.mkdirSync(sessionFolder(temp.home, ID).root, { recursive: true })
})
afterEach(() => temp.assertNoLeaks())

test('the file keeps the environment, and its reader leaves out the user’s tmux server', () => {
  writeEnvironment(temp.home, ID, { PATH: '/bin', version: '9', TMUX: '/tmp/x,1,0', TMUX_PANE: '%1' })
  expect(readEnvironment(temp.home, ID)).toEqual({ PATH: '/bin', version: '9' })
})

test('a missing file is an error only for a program that needs it', () => {
  expect(findEnvironment(temp.home, ID)).toBeUndefined()
  expect(() => readEnvironment(temp.home, ID)).toThrow('there is no such file')
})

test.each(['', '[]', '{"PATH":7}', '{"TOKEN":"hunter2'])('a damaged file is never an empty environment: %j', text => {
  fs.writeFileSync(sessionFolder(temp.home, ID).env, text)
  expect(() => findEnvironment(temp.home, ID)).toThrow(/it is damaged: (?!.*hunter2)/)
})
