import { expect, test } from 'vitest'
import {
  replacementFor,
  isCredentialHelper,
  isPromisorSetting,
  isPushOption,
  isProtocolSetting,
  isFileSetting,
  isTransferProgram,
  isUrlRewrite,
  mayContainDangerous,
} from './dangerous-settings.ts'

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
  'http.https://a.b/.sslcert',
  'submodule.x.update',
  'lfs.storage',
  'lfs.https://a.b/.standalonetransferagent',
  'lfs.customtransfer.x.args',
  'annex.freezecontent-command',
  'fetch.bundleuri',
] as const

test.each(DANGEROUS)('the guard replaces %s and detects a configuration that contains it', key => {
  expect(replacementFor(key)).toBeDefined()
  expect(mayContainDangerous(key)).toBe(true)
})

test.each([
  ['credential.https://a.b.helper', isCredentialHelper],
  ['push.pushoption', isPushOption],
  ['url.a.insteadof', isUrlRewrite],
  ['protocol.ext.allow', isProtocolSetting],
  ['remote.x.uploadpack', isTransferProgram],
  ['remote.x.receivepack', isTransferProgram],
  ['remote.x.promisor', isPromisorSetting],
  ['remote.x.partialclonefilter', isPromisorSetting],
  ['extensions.partialclone', isPromisorSetting],
  ['includeif.gitdir:/.path', isFileSetting],
  ['fetch.fsck.skiplist', isFileSetting],
] as const)('the guard recognises %s and detects a configuration that contains it', (key, isKnown) => {
  expect(isKnown(key)).toBe(true)
  expect(mayContainDangerous(key)).toBe(true)
})

test('the guard does not pass an ordinary configuration to git', () => {
  const text =
    '[core]\n\tbare = false\n[remote "origin"]\n\turl = a\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n'
  expect(mayContainDangerous(text)).toBe(false)
})
