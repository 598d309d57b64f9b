import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Notification, notificationOf } from '../../src/core/notify/notification.ts'
import type { ChannelAddress } from '../../src/core/notify/channel.ts'
import { NOTICE_KINDS } from '../../src/core/notify/notice.ts'
import { Secret } from '../../src/lib/secret.ts'
import { ChannelBusy } from '../../src/ports/notifications.ts'
import { RecordingServer } from '../../testkit/system/recording-server.ts'
import { makeFailedNotice } from '../../testkit/core/notices.ts'
import { createNotifier } from '../../src/world/notify/notifier.ts'

const NASTY = `"'; $(reboot) \`id\` <!channel> @everyone *b* [x](http://y) & ünï 🚀`

const NOTICE = makeFailedNotice(NASTY)
const BULLETIN = notificationOf([NOTICE], NOTICE.at)

let server: RecordingServer
beforeEach(async () => {
  server = await RecordingServer.open()
})
afterEach(() => server.close())

function tell(
  address: ChannelAddress,
  signal = AbortSignal.timeout(10_000),
  notification: Notification = BULLETIN,
): Promise<string> {
  const listing = { name: 'it', events: NOTICE_KINDS, address: () => address }
  return createNotifier(async () => [listing], { env: {}, terminals: async () => [] }).deliver(
    'it',
    notification,
    signal,
  )
}

const secret = (text: string): Secret => new Secret(text)
const at = (path: string): Secret => secret(`${server.url}${path}`)

test('ntfy gets a topic, a title and a text, under the notice’s own id', async () => {
  await tell({ type: 'ntfy', url: at('/base/my%20topic'), token: secret('tk_1') })
  expect(server.requests.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
    ['POST', '/base', 'Bearer tk_1'],
  ])
  expect(server.bodies()).toEqual([
    {
      topic: 'my topic',
      title: 'demo-x failed',
      message: `demo-x failed: exit code 3\n${NASTY}\noneshot resume demo-x`,
      priority: 4,
      sequence_id: 'abc-1-failed',
    },
  ])
})

test('telegram gets plain text for a chat', async () => {
  await tell({ type: 'telegram', url: secret(`${server.url}/`), token: secret('12:ab'), chat: '-42' })
  expect(server.requests[0]?.path).toBe('/bot12:ab/sendMessage')
  expect(server.bodies()).toEqual([
    {
      chat_id: '-42',
      text: `demo-x failed: exit code 3\n${NASTY}\noneshot resume demo-x`,
      link_preview_options: { is_disabled: true },
    },
  ])
})

test('slack gets text in which nothing is a link or a mention', async () => {
  await tell({ type: 'slack', url: at('/services/T/B/x') })
  const [{ text }] = server.bodies() as [{ text: string }]
  expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
  expect(text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')).toContain(NASTY)
})

test('discord gets text in which nobody is mentioned and nothing is Markdown', async () => {
  await tell({ type: 'discord', url: at('/api/webhooks/1/x') })
  const [{ content, allowed_mentions }] = server.bodies() as [{ content: string; allowed_mentions: unknown }]
  expect(allowed_mentions).toEqual({ parse: [] })
  expect(content).not.toMatch(/(^|[^\\])[*_`~|]/)
  expect(content.replaceAll(/\\(.)/g, '$1')).toContain(NASTY)
})

test('a webhook gets the whole document, and an id to know a repetition by', async () => {
  await tell({ type: 'webhook', url: at('/hook?key=1'), token: secret('tk_2') })
  const [request] = server.requests
  expect([request?.path, request?.headers['idempotency-key'], request?.headers.authorization]).toEqual([
    '/hook?key=1',
    'abc-1-failed',
    'Bearer tk_2',
  ])
  expect(server.bodies()).toEqual([JSON.parse(JSON.stringify(BULLETIN.document))])
  expect(server.bodies()[0]).toMatchObject({ event: 'failed', exitCode: 3, session: { title: NASTY } })
})

test('a channel cuts text that is too long to its limit', async () => {
  const long = { ...BULLETIN, text: '🚀'.repeat(9_000) }
  await tell({ type: 'ntfy', url: at('/t'), token: null }, undefined, long)
  await tell({ type: 'telegram', url: secret(server.url), token: secret('t'), chat: '1' }, undefined, long)
  await tell({ type: 'discord', url: at('/x') }, undefined, long)
  const [ntfy, telegram, discord] = server.bodies() as [{ message: string }, { text: string }, { content: string }]
  expect(Buffer.byteLength(ntfy.message)).toBeLessThanOrEqual(4_096)
  expect(Array.from(telegram.text).length).toBeLessThanOrEqual(4_096)
  expect(discord.content.length).toBeLessThanOrEqual(2_000)
})

test.each<[string, (url: string) => ChannelAddress]>([
  [
    's3cret-topic s3cret-token',
    url => ({ type: 'ntfy', url: secret(`${url}/s3cret-topic`), token: secret('s3cret-token') }),
  ],
  ['bot12:s3cret', url => ({ type: 'telegram', url: secret(url), token: secret('12:s3cret'), chat: '1' })],
  ['/services/s3cret', url => ({ type: 'slack', url: secret(`${url}/services/s3cret`) })],
  [
    's3cret%20x, s3cret x',
    url => ({ type: 'webhook', url: secret(`${url.replace('//', '//me:s3cret%20x@')}/x`), token: null }),
  ],
])('a failure is told without a secret, even when the server quotes %s', async (quoted, address) => {
  server.replies.push({ status: 403, body: `I do not like ${quoted}` })
  const refused: Error = await tell(address(server.url)).then(never, cause => cause)
  expect(refused.message).toMatch(/^notifying it: 127\.0\.0\.1:\d+ answered with status 403: I do not like .*‹hidden›/)
  const gone: Error = await tell(address('http://127.0.0.1:1')).then(never, cause => cause)
  expect(gone.message).toBe('notifying it: connect ECONNREFUSED 127.0.0.1:1')
  expect(inspect([refused, gone], { depth: 9 })).not.toContain('s3cret')
})

function never(): never {
  throw new Error('it was told')
}

test('a channel reports the wait that a busy server asks for', async () => {
  server.replies.push({ status: 429, headers: { 'retry-after': '7' } })
  const cause: unknown = await tell({ type: 'slack', url: at('/x') }).catch((thrown: unknown) => thrown)
  expect(cause).toBeInstanceOf(ChannelBusy)
  expect((cause as ChannelBusy).wait).toBe(7_000)
})

test('a channel gives up a server that hangs when the time is over', async () => {
  server.replies.push('hang')
  const patience = new AbortController()
  const told = tell({ type: 'webhook', url: at('/x'), token: null }, patience.signal)
  setTimeout(() => patience.abort(), 50)
  await expect(told).rejects.toThrow(/abort/i)
})

test('a channel follows no redirect: it would send the secrets elsewhere', async () => {
  server.replies.push({ status: 302, headers: { location: `${server.url}/elsewhere` } })
  await expect(tell({ type: 'slack', url: at('/x') })).rejects.toThrow(/status 302/)
  expect(server.requests).toHaveLength(1)
})

test('oneshot does not retry a channel that is no longer configured', async () => {
  const notifier = createNotifier(async () => [], { env: {}, terminals: async () => [] })
  await expect(notifier.deliver('it', BULLETIN, AbortSignal.timeout(1_000))).rejects.toMatchObject({
    mayHelpToRetry: false,
  })
})
