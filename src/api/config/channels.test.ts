import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { NOTICE_KINDS } from '../../core/notify/notice.ts'
import { HIDDEN } from '../../lib/secret.ts'
import { resolveChannelAddress, describeChannel } from './resolve-channel-address.ts'
import { readChannels } from './channels.ts'

const channelsIn = (toml: string) => readChannels(parse(toml)['notify'], 'config.toml')

test('a channel receives all events, or the events that it lists', () => {
  const [phone, desk] = channelsIn(`
    [notify.phone]
    type = "ntfy"
    url = "https://ntfy.sh/my-topic"
    events = ["failed", "blocked"]
    [notify.desk]
    type = "desktop"`)
  expect([phone?.name, phone?.type, phone?.events]).toEqual(['phone', 'ntfy', ['failed', 'blocked']])
  expect(desk?.events).toEqual(NOTICE_KINDS)
})

test.each([
  ['notify = "ntfy"', /must be tables/, '[notify.phone]'],
  ['[notify.x]\nurl = "https://a"', /notify\.x \(config\.toml\) has no type/, /one of desktop, bell/],
  ['[notify.x]\ntype = "slak"', /cannot have the type "slak"/, 'did you mean slack?'],
  ['[notify.x]\ntype = "bell"\nevents = ["fail"]', /there is no event "fail"/, 'did you mean failed?'],
  ['[notify.x]\ntype = "bell"\nloud = true', /a channel of the type bell has no "loud"/, /type, events/],
  ['[notify.x]\ntype = "ntfy"\nulr = "https://a"', /has no "ulr"/, 'did you mean url?'],
  ['[notify.x]\ntype = "slack"', /has no url/, 'url = "…", or url-env = "…", or url-file = "…"'],
  ['[notify.x]\ntype = "slack"\nurl = "https://a"\nurl-env = "A"', /has both url and url-env/, 'give one of them'],
  [
    '[notify.x]\ntype = "slack"\nurl = "file:///etc/passwd"',
    /url must be an address that begins with https:\/\//,
    /docs/,
  ],
  ['[notify.x]\ntype = "telegram"\nchat = "1"', /has no token/, /token-env/],
  ['[notify.x]\ntype = "email"\nto = "a@b\\r\\nBcc: c@d"', /to must be a mail address/, /docs/],
  ['[notify.x]\ntype = "email"\nto = ["a@b", 7]', /to must be a mail address/, /docs/],
  ['[notify.x]\ntype = "email"\nto = "a@b"\nfrom = "me <a@b>"', /from must be a mail address/, /docs/],
  ['[notify.x]\ntype = "command"', /needs either run or shell/, /sh -c/],
  ['[notify.x]\ntype = "command"\nrun = "say \'hello"', /run must be a command whose quotes are closed/, /docs/],
  ['[notify."a b"]\ntype = "bell"', /"a b" cannot be a channel's name/, /phone/],
])('readChannels refuses %j with a message', (toml, message, hint) => {
  expect(() => channelsIn(toml)).toThrow(
    expect.objectContaining({
      code: 'config-invalid',
      message: expect.stringMatching(message),
      hint: typeof hint === 'string' ? hint : expect.stringMatching(hint),
    }),
  )
})

function refusalOf(toml: string): string {
  try {
    channelsIn(toml)
  } catch (cause) {
    return JSON.stringify([String(cause), cause])
  }
  return ''
}

test('no refusal shows a value that may be a secret', () => {
  for (const toml of [
    '[notify.x]\ntype = "slack"\nurl = "s3cret"',
    '[notify.x]\ntype = "ntfy"\nurl = "https://a"\ntoken = ["s3cret"]',
    '[notify.x]\ntype = "email"\nto = "a@b"\nurl = "https://s3cret"',
  ]) {
    const shown = refusalOf(toml)
    expect([shown.includes('notify.x'), shown.includes('s3cret')]).toEqual([true, false])
  }
})

test('a channel takes a secret from its value, a variable or a file', () => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'os-secret-')), 'token')
  fs.writeFileSync(file, 'tk_file\n')
  const [plain, variable, byFile] = channelsIn(`
    [notify.a]
    type = "ntfy"
    url = "https://ntfy.sh/t"
    token = "tk_plain"
    [notify.b]
    type = "ntfy"
    url-env = "URL_OF_B"
    token-env = "TOKEN_OF_B"
    [notify.c]
    type = "ntfy"
    url = "https://ntfy.sh/t"
    token-file = "${file}"`)
  const env = { URL_OF_B: 'http://127.0.0.1/t', TOKEN_OF_B: 'tk_env' }
  const tokens = [plain, variable, byFile].map(entry => {
    const address = entry && resolveChannelAddress(entry, env)
    return address?.type === 'ntfy' ? [address.url.reveal(), address.token?.reveal()] : []
  })
  expect(tokens).toEqual([
    ['https://ntfy.sh/t', 'tk_plain'],
    ['http://127.0.0.1/t', 'tk_env'],
    ['https://ntfy.sh/t', 'tk_file'],
  ])
  expect(() => variable && resolveChannelAddress(variable, {})).toThrow('notify.b: URL_OF_B is not set')
  expect(() => variable && resolveChannelAddress(variable, { ...env, URL_OF_B: 's3cret' })).toThrow(/^((?!s3cret).)*$/)
  fs.rmSync(path.dirname(file), { recursive: true })
  expect(() => byFile && resolveChannelAddress(byFile, {})).toThrow(/ENOENT/)
})

test('resolveChannelAddress allows a token or a secret address over http to this machine only', () => {
  const refused = channelsIn(`
    [notify.a]
    type = "ntfy"
    url = "http://ntfy.example.org/t"
    token = "tk_plain"
    [notify.b]
    type = "webhook"
    url = "http://me:pw@example.org/h"
    [notify.c]
    type = "slack"
    url = "http://hooks.example.org/services/x"
    [notify.d]
    type = "telegram"
    url = "http://127.0.0.1.example.org"
    token = "1:x"
    chat = "1"`)
  for (const entry of refused) expect(() => resolveChannelAddress(entry, {})).toThrow(/unencrypted/)
  const fine = channelsIn(`
    [notify.a]
    type = "ntfy"
    url = "http://localhost:8080/t"
    token = "tk_plain"
    [notify.b]
    type = "webhook"
    url = "http://example.org/h"
    [notify.c]
    type = "slack"
    url = "https://hooks.example.org/services/x"`)
  for (const entry of fine) expect(resolveChannelAddress(entry, {}).type).toBe(entry.type)
})

test('the description of a channel masks its secrets, and shows only the host of an address', () => {
  const [chat, mail, hook] = channelsIn(`
    [notify.chat]
    type = "telegram"
    token = "123:abc"
    chat = "42"
    url-env = "TG"
    [notify.mail]
    type = "email"
    to = ["a@b.c", "d@e.f"]
    url = "smtps://me:pass@mail.example:465"
    password-file = "~/pw"
    [notify.hook]
    type = "command"
    run = "say it"`)
  expect([chat, mail, hook].map(entry => entry && describeChannel(entry))).toEqual([
    { token: HIDDEN, chat: '42', url: '$TG' },
    { to: 'a@b.c, d@e.f', url: `smtps://mail.example:465/${HIDDEN}`, password: '~/pw' },
    { run: 'say it' },
  ])
})
