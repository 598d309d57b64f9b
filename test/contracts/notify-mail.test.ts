import os from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { notificationOf } from '../../src/core/notify/notification.ts'
import type { Notice } from '../../src/core/notify/notice.ts'
import { NOTICE_KINDS } from '../../src/core/notify/notice.ts'
import { Secret } from '../../src/lib/secret.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { MailServer, readMail } from '../../testkit/system/mail-server.ts'
import { createNotifier } from '../../src/world/notify/notifier.ts'

const NASTY = '.\n. ünï\r\nBcc: all@evil.test\r\n.\r\nQUIT 🚀'

const NOTICE: Notice = {
  id: 'abc-1-done',
  kind: 'done',
  at: 1_767_312_000_000,
  session: { id: testSessionId('abc'), name: 'demo-x', agent: 'demo', title: NASTY, cwd: '/', tty: null },
  outcome: 'done',
  reason: 'exit code 0',
  exitCode: 0,
  text: 'demo-x is döne: exit code 0',
  command: null,
}

let server: MailServer
afterEach(() => server.close())

interface Mailing {
  readonly login?: string
  readonly password?: string
  readonly host?: string
  readonly heading?: string
}

function mail(
  { login = '', password, host = '127.0.0.1', heading = 'demo-x is döne' }: Mailing = {},
  signal = AbortSignal.timeout(10_000),
) {
  const address = {
    type: 'email',
    to: ['a@b.test', 'c@d.test'],
    from: 'oneshot@b.test',
    url: new Secret(`smtp://${login}${host}:${server.port}`),
    password: password === undefined ? null : new Secret(password),
  } as const
  const listing = { name: 'it', events: NOTICE_KINDS, address: () => address }
  const notifier = createNotifier(async () => [listing], { env: {}, terminals: async () => [] })
  return notifier.deliver('it', { ...notificationOf([NOTICE], NOTICE.at), heading }, signal)
}

test('oneshot sends a mail whole: receivers, subject and text arrive, and no text becomes a header', async () => {
  server = await MailServer.open()
  expect(await mail()).toBe(`taken by 127.0.0.1:${server.port}`)
  const [taken] = server.mails
  expect([taken?.from, taken?.to, taken?.login]).toEqual(['oneshot@b.test', ['a@b.test', 'c@d.test'], null])
  const { subject, body, headers } = readMail(taken as NonNullable<typeof taken>)
  expect(subject).toBe('oneshot: demo-x is döne')
  expect(body).toBe(`demo-x is döne: exit code 0\n${NASTY}\n`)
  expect(headers).not.toMatch(/^Bcc/m)
  expect(headers).toMatch(/^Message-ID: <abc-1-done@oneshot\.invalid>$/m)
})

test.each(['PLAIN', 'LOGIN'] as const)('oneshot logs in to the mail server by %s', async auth => {
  server = await MailServer.open({ auth })
  await mail({ login: 'me%40b.test@', password: 'p@ss word' })
  await mail({ login: 'me:p%3Ass@' })
  expect(server.mails.map(({ login }) => login)).toEqual(['me@b.test:p@ss word', 'me:p:ss'])
})

test('oneshot reports the refusal of a mail server without the password', async () => {
  server = await MailServer.open({ auth: 'PLAIN', refuses: { AUTH: '535 no, s3cretive is wrong' } })
  await expect(mail({ login: 'me:s3cretive@' })).rejects.toThrow(
    'notifying it: the mail server said 535 no, ‹hidden› is wrong',
  )
  await server.close()
  server = await MailServer.open({ refuses: { RCPT: '550 no such user' } })
  await expect(mail()).rejects.toThrow('the mail server said 550 no such user')
  await server.close()
  server = await MailServer.open({ refuses: { '.': '452 no room' } })
  await expect(mail()).rejects.toThrow('the mail server said 452 no room')
  expect(server.mails).toEqual([])
})

test('oneshot gives up a mail server that hangs or does not listen', async () => {
  server = await MailServer.open({ refuses: { EHLO: '' } })
  const patience = new AbortController()
  const told = mail({}, patience.signal)
  setTimeout(() => patience.abort(), 50)
  await expect(told).rejects.toThrow('did not answer in time')
  await server.close()
  await expect(mail()).rejects.toThrow('ECONNREFUSED')
})

test('oneshot sends a mail to the receivers that the server accepts, and names those that it refuses for good', async () => {
  server = await MailServer.open({ refuses: { 'RCPT TO:<c@d.test>': '550 no such user' } })
  expect(await mail()).toBe(
    `taken by 127.0.0.1:${server.port}, but not for c@d.test: the mail server said 550 no such user`,
  )
  expect(server.mails.map(({ to }) => to)).toEqual([['a@b.test']])
})

test('oneshot sends a mail again if the server refuses one receiver for now', async () => {
  server = await MailServer.open({ refuses: { 'RCPT TO:<c@d.test>': '450 try later' } })
  await expect(mail()).rejects.toThrow('the mail server said 450 try later')
})

test('oneshot leaves a mail server that never stops sending, and one that hangs up', async () => {
  server = await MailServer.open({ refuses: { EHLO: `250-${'x'.repeat(70_000)}` } })
  await expect(mail()).rejects.toThrow('maximum allowed size')
  await server.close()
  server = await MailServer.open({ refuses: { MAIL: '421 too busy' } })
  await expect(mail()).rejects.toThrow('the mail server said 421 too busy')
})

test('oneshot sends no password to a server that offers no login', async () => {
  server = await MailServer.open()
  await expect(mail({ login: 'me:s3cretive@' })).rejects.toThrow('offers no login')
  expect(server.mails).toEqual([])
})

test('a subject with line ends adds no header to the mail', async () => {
  server = await MailServer.open()
  await mail({ heading: `x\r\nBcc: all@evil.test\n\n${'ü'.repeat(200)}` })
  const [taken] = server.mails
  const { subject, headers } = readMail(taken as NonNullable<typeof taken>)
  expect(headers).not.toMatch(/^Bcc/m)
  expect(subject).toContain('Bcc: all@evil.test')
  expect(subject).toContain('ü'.repeat(200))
  expect(taken?.text.split('\n').every(line => /^[\x20-\x7e]{0,78}$/.test(line))).toBe(true)
})

const elsewhere = Object.values(os.networkInterfaces())
  .flat()
  .find(known => known?.family === 'IPv4' && !known.internal)?.address

test.skipIf(elsewhere === undefined)(
  'oneshot sends no password over a network without TLS (needs a network)',
  async () => {
    server = await MailServer.open({ auth: 'PLAIN', host: '0.0.0.0' })
    const host = elsewhere ?? ''
    await expect(mail({ login: 'me:s3cretive@', host })).rejects.toThrow(
      'offers no TLS, and gets no password without it',
    )
    expect(await mail({ host })).toContain('taken by')
  },
)
