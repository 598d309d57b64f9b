import os from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { notificationOf } from '../../src/core/notify/notification.ts'
import type { Notice } from '../../src/core/notify/notice.ts'
import { NOTICE_KINDS } from '../../src/core/notify/notice.ts'
import { Secret } from '../../src/lib/secret.ts'
import { MailServer, readMail } from '../../testkit/system/mail-server.ts'
import { createNotifier } from '../../src/world/notify/notifier.ts'

const NASTY = '.\n. ünï\r\nBcc: all@evil.test\r\n.\r\nQUIT 🚀'

const NOTICE: Notice = {
  id: 'abc-1-done',
  kind: 'done',
  at: 1_767_312_000_000,
  session: { id: 'abc', name: 'demo-x', agent: 'demo', title: NASTY, cwd: '/', tty: null },
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
}

function mail({ login = '', password, host = '127.0.0.1' }: Mailing = {}, signal = AbortSignal.timeout(10_000)) {
  const address = {
    type: 'email',
    to: ['a@b.test', 'c@d.test'],
    from: 'oneshot@b.test',
    url: new Secret(`smtp://${login}${host}:${server.port}`),
    password: password === undefined ? null : new Secret(password),
  } as const
  const listing = { name: 'it', events: NOTICE_KINDS, address: () => address }
  const notifier = createNotifier(async () => [listing], { env: {}, terminals: async () => [] })
  return notifier.deliver('it', notificationOf([NOTICE], NOTICE.at), signal)
}

test('a mail arrives whole: its receivers, its subject, its text, and nothing of the text as a header', async () => {
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

test.each(['PLAIN', 'LOGIN'] as const)('it logs in by %s', async auth => {
  server = await MailServer.open({ auth })
  await mail({ login: 'me%40b.test@', password: 'p@ss word' })
  await mail({ login: 'me:p%3Ass@' })
  expect(server.mails.map(({ login }) => login)).toEqual(['me@b.test:p@ss word', 'me:p:ss'])
})

test('a server that refuses is told of, without the password', async () => {
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

test('a server that hangs, or is not there, is left', async () => {
  server = await MailServer.open({ refuses: { EHLO: '' } })
  const patience = new AbortController()
  const told = mail({}, patience.signal)
  setTimeout(() => patience.abort(), 50)
  await expect(told).rejects.toThrow('did not answer in time')
  await server.close()
  await expect(mail()).rejects.toThrow('ECONNREFUSED')
})

const elsewhere = Object.values(os.networkInterfaces())
  .flat()
  .find(known => known?.family === 'IPv4' && !known.internal)?.address

test.skipIf(elsewhere === undefined)('no password goes over a network in the open (needs a network)', async () => {
  server = await MailServer.open({ auth: 'PLAIN', host: '0.0.0.0' })
  const host = elsewhere ?? ''
  await expect(mail({ login: 'me:s3cretive@', host })).rejects.toThrow('offers no TLS, and gets no password without it')
  expect(await mail({ host })).toContain('taken by')
})
