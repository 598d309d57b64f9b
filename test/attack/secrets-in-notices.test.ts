import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { RecordingServer } from '../../testkit/system/recording-server.ts'
import { run } from '../../src/os/run.ts'
import { TestHome, waitUntil } from '../system/test-home.ts'
import { userConfig } from '../system/user-config.ts'

const TOKEN = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
const AWS = 'AKIAIOSFODNN7EXAMPLE'
/** Known as a secret only by the name of its variable. */
const PHRASE = 'correct-horse-battery-7731'
const SECRETS = [TOKEN, AWS, AWS.toLowerCase(), PHRASE]

let testHome: TestHome
let server: RecordingServer
beforeEach(async () => {
  testHome = new TestHome({ DEPLOY_PASSWORD: PHRASE })
  server = await RecordingServer.open()
})
afterEach(async () => {
  await testHome.close()
  await server.close()
})

it('oneshot leaks secrets of a prompt, a command and a question neither in notifications, hooks, names and refs nor in the supervisor’s log', async () => {
  const told = testHome.path('told')
  const channels = [
    `[notify.hook]\ntype = "webhook"\nurl = "${server.url}/hook"`,
    `[notify.slack]\ntype = "slack"\nurl = "${server.url}/slack"`,
    `[notify.phone]\ntype = "ntfy"\nurl = "${server.url}/mine"`,
    `[notify.program]\ntype = "command"\nshell = 'env | grep ^ONESHOT_ >>"${told}"; cat >>"${told}"'`,
  ]
  userConfig(testHome, channels.join('\n'))
  await run('git', ['init', '-q', '.'], { cwd: testHome.project, env: testHome.env })
  const atEnd = ['--on-exit-shell', `env | grep ^ONESHOT_ >>'${told}'; cat >>'${told}'; echo hook >>'${told}'`]
  const command = ['--', 'echo', '--token', TOKEN, 'password=hunter2secret']
  await testHome.run('--headless', ...atEnd, ...command)
  await testHome.run('--agent', 'demo', ...atEnd, `${AWS} is the key steps=1`)
  // Long enough that the phrase stands where a long reason is cut.
  const sentence = `${'x'.repeat(480)}-${PHRASE}`
  await testHome.run('--agent', 'demo', '--name', 'asks', `ask=${sentence} steps=1`)
  await testHome.ok('tasks', 'asks', 'add', `log in with ${PHRASE}`)
  await waitUntil('all was told', () => (server.requests.length >= 9 ? true : undefined))
  await waitUntil('the hooks ran', () => (fs.readFileSync(told, 'utf8').split('hook\n').length > 2 ? true : undefined))
  const bodies = server.requests.map(({ headers, body }) => `${JSON.stringify(headers)} ${body}`).join('\n')
  const refs = (await run('git', ['for-each-ref'], { cwd: testHome.project, env: testHome.env })).stdout
  const sessions = await testHome.list()
  const shown = [
    bodies,
    fs.readFileSync(told, 'utf8'),
    refs,
    await testHome.ok('daemon', 'log'),
    JSON.stringify(sessions.map(({ name, title }) => [name, title])),
  ]
  expect(refs).toContain('refs/oneshot/')
  for (const text of shown) {
    for (const secret of [...SECRETS, 'hunter2secret', PHRASE.slice(0, 12)]) expect(text).not.toContain(secret)
  }
})
