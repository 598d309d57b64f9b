import { expect, test } from 'vitest'
import { insteadOf, isHelper, isPromise, isProtocol, isReadFile, isRewrite, mayHold } from './rules.ts'

const DANGEROUS = [
  'filter.x.clean',
  'filter.x.process',
  'core.sshcommand',
  'core.gitproxy',
  'core.alternaterefscommand',
  'sequence.editor',
  'diff.x.textconv',
  'diff.orderfile',
  'merge.x.driver',
  'gpg.ssh.program',
  'gpg.ssh.defaultkeycommand',
  'trailer.x.cmd',
  'remote.x.uploadpack',
  'http.https://a.b/.sslcert',
  'submodule.x.update',
  'lfs.storage',
  'lfs.https://a.b/.standalonetransferagent',
  'lfs.customtransfer.x.args',
  'annex.freezecontent-command',
  'fetch.bundleuri',
] as const

test.each(DANGEROUS)('%s is replaced, and a configuration that holds it is looked at', key => {
  expect(insteadOf(key)).toBeDefined()
  expect(mayHold(key)).toBe(true)
})

test.each([
  ['credential.https://a.b.helper', isHelper],
  ['url.a.insteadof', isRewrite],
  ['protocol.ext.allow', isProtocol],
  ['remote.x.promisor', isPromise],
  ['remote.x.partialclonefilter', isPromise],
  ['extensions.partialclone', isPromise],
  ['includeif.gitdir:/.path', isReadFile],
  ['fetch.fsck.skiplist', isReadFile],
] as const)('%s is known, and a configuration that holds it is looked at', (key, isKnown) => {
  expect(isKnown(key)).toBe(true)
  expect(mayHold(key)).toBe(true)
})

test('an ordinary configuration is not given to git', () => {
  const text =
    '[core]\n\tbare = false\n[remote "origin"]\n\turl = a\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n'
  expect(mayHold(text)).toBe(false)
})
