import { expect, test } from 'vitest'
import type { ConfigSetting } from './config-settings.ts'
import { describeLazyFetch, explainNoLazyFetch } from './lazy-fetch.ts'

const BASE = { cwd: '/work/repo', home: '/home/me', folders: ['/work/repo', '/work/repo/.git'] }
const CLONE: Readonly<Record<string, string>> = {
  'extensions.partialclone': 'origin',
  'remote.origin.url': 'https://example.org/x.git',
  'remote.origin.promisor': 'true',
}

function settings(values: Readonly<Record<string, string>>, isUserScope = false): ConfigSetting[] {
  return Object.entries(values).map(([key, value]) => ({ isUserScope, file: null, key, value, isText: true }))
}

function explainAfter(...added: readonly ConfigSetting[]): string | null {
  const start = describeLazyFetch(settings(CLONE), BASE)
  const now = describeLazyFetch([...settings(CLONE), ...added], BASE)
  return now === null || start === null ? 'no partial clone' : explainNoLazyFetch(now, start.fingerprint)
}

test('git may fetch missing objects from the address of the start', () => {
  expect(explainAfter()).toBeNull()
})

test.each(['remote.fork.url', 'remote.origin.fetch', 'remote.origin.pushurl', 'branch.main.remote', 'user.name'])(
  'git may still fetch missing objects after a user sets %s',
  key => {
    expect(explainAfter(...settings({ [key]: 'x' }))).toBeNull()
  },
)

test.each([
  'remote.origin.url',
  'remote.origin.proxy',
  'remote.origin.uploadpack',
  'remote.origin.vcs',
  'remote.origin.serveroption',
  'remote.a.b.promisor',
  'remote.x.partialclonefilter',
  'extensions.partialclone',
  'http.proxy',
  'http.https://example.org/.extraheader',
  'http.curloptresolve',
  'url.https://evil.org/.insteadof',
  'core.gitproxy',
  'core.sshcommand',
  'credential.username',
  'protocol.ext.allow',
  'ssh.variant',
  'fetch.bundleuri',
  'fetch.uriprotocols',
])('git fetches no missing objects after an agent sets %s in the repository', key => {
  expect(explainAfter(...settings({ [key]: 'x' }))).not.toBeNull()
})

test('the user’s own configuration may change the connection', () => {
  expect(
    explainAfter(...settings({ 'http.proxy': 'http://proxy', 'url.git@x:.insteadof': 'https://x/' }, true)),
  ).toBeNull()
})

test.each([
  '/work/repo/evil',
  '/work/repo/.git',
  'evil',
  './evil',
  'file:///work/repo/evil',
  'file://host/work/repo/evil',
  'file://%2Fwork/repo/evil',
  'file:///work%2Frepo/%zz',
  '~me/repo',
  '~/../../work/repo/evil',
])('git fetches no missing objects from %s, which lies in the repository', url => {
  const found = describeLazyFetch(settings({ ...CLONE, 'remote.origin.url': url }), BASE)
  expect(found && explainNoLazyFetch(found, found.fingerprint)).toContain('inside the working tree')
})

test('a promisor remote without an address may get one from another file, so git fetches nothing', () => {
  const found = describeLazyFetch(settings({ 'remote.origin.promisor': 'true' }), BASE)
  expect(found && explainNoLazyFetch(found, found.fingerprint)).toContain('without url')
})
