import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sendRequest, readEvents } from './send-request.ts'
import { ModelServer } from './model-server.ts'
import { userMessages } from './requests.ts'

const DIALECTS = ['anthropic', 'responses', 'chat'] as const

let server: ModelServer
beforeEach(async () => {
  server = await ModelServer.open()
})
afterEach(() => server.close())

describe.each(DIALECTS)('the model server in %s', dialect => {
  test.each([401, 403, 404, 429, 500, 529])('refuses with %i', async status => {
    server.play('it', [{ status, retryAfter: 3, message: 'No.' }])
    const response = await sendRequest(server.url('it'), { dialect })
    expect({ status: response.status, retry: response.headers.get('retry-after') }).toEqual({ status, retry: '3' })
    expect(await response.json()).toMatchObject({ error: { message: 'No.' } })
  })

  test('refuses a conversation that is too long', async () => {
    server.play('it', [{ overflow: true }])
    const response = await sendRequest(server.url('it'), { dialect })
    expect(response.status).toBe(400)
    expect(await response.text()).toMatch(/prompt is too long|context_length_exceeded/)
  })

  test('sends an error in the middle of a stream', async () => {
    server.play('it', [{ sseError: 'Oh no' }])
    const response = await sendRequest(server.url('it'), { dialect })
    expect(response.status).toBe(200)
    expect(JSON.stringify((await readEvents(response)).at(-1))).toContain('Oh no')
  })

  test('drops the connection at once', async () => {
    server.play('it', [{ drop: true }])
    await expect(sendRequest(server.url('it'), { dialect })).rejects.toThrow('fetch failed')
  })

  test('drops the connection after some words', async () => {
    server.play('it', [{ drop: 2, say: 'one two three' }])
    const heard = await hearWhatComes(await sendRequest(server.url('it'), { dialect }))
    expect({ end: heard.end, words: ['one', 'two', 'three'].filter(word => heard.text.includes(word)) }).toEqual({
      end: 'cut',
      words: ['one', 'two'],
    })
  })

  test('stalls after some words', async () => {
    server.play('it', [{ stall: 1, say: 'one two' }])
    const response = await sendRequest(server.url('it'), { dialect })
    const reader = response.body?.getReader()
    let text = ''
    while (!text.includes('one')) text += Buffer.from((await reader?.read())?.value ?? '').toString()
    const more = reader?.read().then(
      () => 'more',
      () => 'closed',
    )
    await server.close()
    expect({ more: await more, hasMore: text.includes('two') }).toEqual({ more: 'closed', hasMore: false })
  })

  test('answers a request without tools and consumes no step', async () => {
    server.play('it', [{ say: 'First.' }])
    const side = await sendRequest(server.url('it'), { dialect, isStreamed: false, hasTools: false })
    expect(await side.text()).toContain('A scripted title')
    expect(await (await sendRequest(server.url('it'), { dialect, isStreamed: false })).text()).toContain('First.')
    expect(server.requests('it').map(({ isMain }) => isMain)).toEqual([false, true])
    expect(server.main('it').map(userMessages)).toEqual([['Do the task']])
  })
})

test('a usage limit announces its end in the form of each dialect', async () => {
  server.play('it', [{ status: 429, resetAt: 2_000_000_000, times: 'ever' }])
  const { headers } = await sendRequest(server.url('it'), { dialect: 'anthropic' })
  expect([headers.get('x-should-retry'), headers.get('anthropic-ratelimit-unified-reset')]).toEqual([
    'false',
    '2000000000',
  ])
  expect(await (await sendRequest(server.url('it'), { dialect: 'responses' })).json()).toMatchObject({
    error: { type: 'usage_limit_reached', resets_at: 2_000_000_000 },
  })
})

test('an answer waits for its gate to open', async () => {
  server.play('it', [{ say: 'Through.', gate: 'g' }])
  const answer = sendRequest(server.url('it'), { dialect: 'chat', isStreamed: false })
  await server.until('it', turns => turns.length === 1)
  server.openGate('g')
  expect(await (await answer).text()).toContain('Through.')
})

test('a client can abort a request to a hanging model', async () => {
  server.play('it', [{ hang: true }])
  const patience = new AbortController()
  const answer = sendRequest(server.url('it'), { dialect: 'chat', signal: patience.signal })
  await server.until('it', turns => turns.length === 1)
  patience.abort()
  await expect(answer).rejects.toThrow('aborted')
})

test('until rejects after its limit', async () => {
  await expect(server.until('it', turns => turns.length === 1, 20)).rejects.toThrow('waited 20 ms in vain')
})

test('until rejects with the error of the condition, and the program gets its answer', async () => {
  server.play('it', [{ say: 'Hi.' }])
  const waiting = server.until('it', turns => {
    if (turns.length > 0) throw new Error('oops')
    return false
  })
  const heard = expect(waiting).rejects.toThrow('oops')
  expect((await sendRequest(server.url('it'), { dialect: 'chat' })).status).toBe(200)
  await heard
})

test('the server records requests without secrets', async () => {
  server.play('it', [])
  await sendRequest(server.url('it'), { dialect: 'chat' })
  const [request] = server.requests('it')
  expect(request).toMatchObject({ script: 'it', dialect: 'chat', path: '/v1/chat/completions', body: { stream: true } })
  expect(JSON.stringify(request)).not.toContain('secret')
})

test('the server plays many scripts at once, each from its own start', async () => {
  server.play('one', [{ say: 'I am one.' }])
  server.play('two', [{ say: 'I am two.' }])
  const answers = ['two', 'one'].map(async name => (await sendRequest(server.url(name), { dialect: 'chat' })).text())
  const [two, one] = await Promise.all(answers)
  expect([two?.includes('two'), one?.includes('one')]).toEqual([true, true])
})

test('the server refuses a request for an unknown script', async () => {
  const response = await sendRequest(server.url('nobody'), { dialect: 'chat' })
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('no script named nobody')])
})

test('the server answers requests for models and token counts', async () => {
  server.play('it', [])
  expect(await (await fetch(`${server.url('it')}/v1/models`)).json()).toMatchObject({ data: [{ id: 'mock-model' }] })
  const body = JSON.stringify({ messages: [], tools: [{ name: 'Bash' }] })
  const counted = await fetch(`${server.url('it')}/v1/messages/count_tokens`, { method: 'POST', body })
  expect(await counted.json()).toMatchObject({ input_tokens: 100 })
  expect(server.main('it')).toEqual([])
})

async function hearWhatComes(response: Response): Promise<{ text: string; end: 'whole' | 'cut' }> {
  let text = ''
  try {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString()
    return { text, end: 'whole' }
  } catch {
    return { text, end: 'cut' }
  }
}
