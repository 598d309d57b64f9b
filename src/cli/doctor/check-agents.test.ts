import { expect, test } from 'vitest'
import { checkVersion } from './check-agents.ts'

const agent = {
  kind: 'claude',
  program: 'claude',
  npmPackage: 'it',
  login: 'claude auth login',
  tried: ['2.1.197', '2.1.325'],
}
const check = (version: string | undefined) => checkVersion(agent, version, `${version} at /bin/claude`)

test('a version between the oldest and the newest tried one is ok', () => {
  for (const version of ['2.1.197', '2.1.200', '2.1.325'])
    expect(check(version)).toEqual({
      check: 'agent claude',
      status: 'ok',
      message: `${version} at /bin/claude; to log in: claude auth login`,
    })
})

test('an older version is too old, and the hint installs a newer one', () => {
  expect(check('2.1.99')).toMatchObject({
    status: 'warning',
    message: '2.1.99 at /bin/claude is too old: 2.1.197 is the oldest that was tried',
    hint: 'npm install -g it',
  })
})

test('a newer version is ok, and the finding calls it newer', () => {
  expect(check('3.0.0')).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('(newer than 2.1.325, the newest that was tried)'),
  })
})
