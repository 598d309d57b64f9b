import { expect, test } from 'vitest'
import { withoutLogin } from './without-login.ts'

test.each([
  ['origin', 'origin'],
  ['https://me:secret@host/x.git', 'https://host/x.git'],
  ['https://me:a@b@host/x@y', 'https://host/x@y'],
  ['https://host/a@b', 'https://host/a@b'],
  ['git@host:x.git', 'git@host:x.git'],
  ['/srv/a@b.git', '/srv/a@b.git'],
])('%s is shown as %s', (address, shown) => {
  expect(withoutLogin(address)).toBe(shown)
})
