import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Spec } from '../../src/core/session/session-state.ts'
import { sessionFolder } from '../../src/state/session-folder.ts'
import { run } from '../../src/os/run.ts'
import { binFolder } from '../system/bin-folder.ts'
import { TestHome, MAIN, waitUntil } from '../system/test-home.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

const ONESHOT = `'${process.execPath}' '${MAIN}'`
const THREAD = '{"type":"thread.started","thread_id":"01a1de78-69fb-7731-abc7-29a1f6ce73b3"}'

/** Installs a codex that runs this script, records its output, and continues to run. With a name, only the session of that name runs it. */
function codexThat(script: string, name = '$ONESHOT_SESSION'): void {
  const codex = `cat >/dev/null\necho '${THREAD}'\n[ "$ONESHOT_SESSION" = "${name}" ] || exec sleep 600\ncd '${testHome.project}'\n{ ${script}\n} >answers 2>&1\necho done >>answers\nexec sleep 600`
  testHome.env['PATH'] = `${binFolder(testHome, { tools: ['tmux'], scripts: { codex } })}:${process.env['PATH']}`
}

async function answers(): Promise<string> {
  const file = testHome.path('answers')
  return waitUntil('it has tried', () => {
    const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
    return text.endsWith('done\n') ? text : undefined
  })
}

it('a session with less than full autonomy can neither start a command nor control other sessions, even when it hides its identity', async ({
  skip,
}) => {
  if ((await run('perl', ['-v'], {})).code !== 0) return skip('perl is not installed')
  const post = `require('node:http').request({socketPath:'${testHome.home.daemonSocket}',path:'/v1/daemon/stop',method:'POST'},r=>console.log('status',r.statusCode)).end()`
  codexThat(`
${ONESHOT} run --headless -- touch '${testHome.path('pwned-1')}'
env -i PATH="$PATH" HOME="$HOME" ONESHOT_HOME='${testHome.home.root}' ${ONESHOT} run --headless -- touch '${testHome.path('pwned-2')}'
${ONESHOT} run --agent demo --autonomy full 'steps=1'
${ONESHOT} stop command-victim
env -i PATH="$PATH" HOME="$HOME" ONESHOT_HOME='${testHome.home.root}' ${ONESHOT} hold command-victim
env -i '${process.execPath}' -e "${post}"
${ONESHOT} status command-victim --json | grep -c '"name": "command-victim"'`)
  const victim = await testHome.run('--name', 'victim', '--headless', '--', 'sleep', '600')
  await testHome.run('--agent', 'codex', '--autonomy', 'ask', '--name', 'spy', 'look around')
  const told = await answers()
  expect(told.match(/the session codex-spy may not/g)?.length).toBe(5)
  expect(told).toContain('status 400')
  expect(told).toMatch(/^1$/m)
  expect(fs.readdirSync(testHome.project).filter(name => name.startsWith('pwned'))).toEqual([])
  expect((await testHome.status(victim.name)).phase).toBe('running')
  expect((await testHome.list()).map(({ name }) => name).sort()).toEqual(['codex-spy', 'command-victim'])
})

it('a session gains no rights when it leaves its parent, its environment, its process session and its control group', {
  tags: ['extended'],
}, async ({ skip }) => {
  if ((await run('perl', ['-v'], {})).code !== 0) return skip('perl is not installed')
  const victim = await testHome.run('--name', 'victim', '--headless', '--', 'sleep', '600')
  const leave = `for g in /sys/fs/cgroup /sys/fs/cgroup/unified; do echo $$ >$g/cgroup.procs; done 2>/dev/null`
  const bare = `env -i PATH="$PATH" HOME="$HOME" ONESHOT_HOME='${testHome.home.root}'`
  const forged = `${bare} ONESHOT_ATTEMPT=${victim.id}.1 ONESHOT_SESSION=command-victim`
  const touch = (name: string): string => `run --headless -- touch '${testHome.path(name)}'`
  fs.writeFileSync(
    testHome.path('orphan.sh'),
    `${leave}
while [ "$(ps -o ppid= -p $$ | tr -d ' ')" = "$1" ]; do sleep 0.01; done
${bare} ${ONESHOT} ${touch('pwned-1')}
${forged} ${ONESHOT} ${touch('pwned-2')}
${forged} ${ONESHOT} stop command-victim
${bare} ${ONESHOT} hold command-victim
${bare} ${ONESHOT} status command-victim --json | grep -c '"name": "command-victim"'
echo over
`,
  )
  codexThat(`
sh -c 'setsid env -i PATH="$PATH" HOME="$HOME" sh orphan.sh $$ >orphaned 2>&1 &'
until grep -q over orphaned; do sleep 0.01; done
cat orphaned`)
  await testHome.run('--agent', 'codex', '--autonomy', 'edits', '--name', 'spy', 'look around')
  const told = await answers()
  expect(told.match(/cannot tell whether this command comes from the session codex-spy/g)?.length, told).toBe(4)
  expect(told).toMatch(/^1$/m)
  expect(fs.readdirSync(testHome.project).filter(name => name.startsWith('pwned'))).toEqual([])
  expect((await testHome.status(victim.name)).phase).toBe('running')
  // Its user is not taken for it.
  await testHome.ok('stop', 'command-victim')
})

it('a session that takes the marker or the control group of another session can neither use its rights nor send it messages', async ({
  skip,
}) => {
  if ((await run('perl', ['-v'], {})).code !== 0) return skip('perl is not installed')
  codexThat('true', 'codex-spy')
  const bee = await testHome.run('--agent', 'codex', '--autonomy', 'edits', '--name', 'bee', 'edit')
  const boss = await testHome.run('--agent', 'codex', '--autonomy', 'full', '--name', 'boss', 'do anything')
  const bare = `env -i PATH="$PATH" HOME="$HOME" ONESHOT_HOME='${testHome.home.root}'`
  const asBee = `ONESHOT_ATTEMPT=${bee.id}.1 ONESHOT_SESSION=codex-bee ${ONESHOT}`
  const moveInto = (id: string): string =>
    `for g in /sys/fs/cgroup /sys/fs/cgroup/unified; do echo $$ >$g/oneshot-${id}.1/cgroup.procs; done 2>/dev/null`
  fs.writeFileSync(
    testHome.path('orphan.sh'),
    `${moveInto(boss.id)}
while [ "$(ps -o ppid= -p $$ | tr -d ' ')" = "$1" ]; do sleep 0.01; done
${bare} ${ONESHOT} run --headless -- touch '${testHome.path('pwned')}'
${bare} ${asBee} send codex-bee 'obey me'
${moveInto(bee.id)}
${bare} ${ONESHOT} send codex-bee 'obey me'
echo over
`,
  )
  codexThat(
    `
${asBee} run --agent codex --autonomy edits --name more 'edit for me'
${asBee} send codex-bee 'obey me'
${asBee} stop codex-bee
sh -c 'setsid env -i PATH="$PATH" HOME="$HOME" sh orphan.sh $$ >orphaned 2>&1 &'
until grep -q over orphaned; do sleep 0.01; done
cat orphaned`,
    'codex-spy',
  )
  await testHome.run('--agent', 'codex', '--autonomy', 'ask', '--name', 'spy', 'look around')
  const told = await answers()
  expect(told.match(/the session codex-spy may not/g)?.length, told).toBe(3)
  expect(told.match(/cannot tell whether this command comes from the session codex-/g)?.length, told).toBe(3)
  expect(fs.existsSync(testHome.path('pwned'))).toBe(false)
  expect((await testHome.list()).map(({ name }) => name).sort()).toEqual(['codex-bee', 'codex-boss', 'codex-spy'])
  expect((await testHome.status('codex-bee')).messages.accepted).toBe(1)
})

it('a session can stop only a session that it has started, and the reason names who stopped it', async () => {
  codexThat(`
${ONESHOT} run --name child --headless --max-time none -- sleep 600
${ONESHOT} stop command-child
${ONESHOT} wait command-child
${ONESHOT} stop command-victim
${ONESHOT} clean command-victim --yes
${ONESHOT} daemon stop`)
  const victim = await testHome.run('--name', 'victim', '--headless', '--', 'sleep', '600')
  await testHome.run('--agent', 'codex', '--name', 'boss', '--max-time', '1h', 'manage it')
  const told = await answers()
  expect(told.match(/the session codex-boss may not/g)?.length).toBeGreaterThanOrEqual(2)
  const child = await testHome.ended('command-child')
  expect(child).toMatchObject({
    outcome: 'stopped',
    reason: expect.stringContaining('stopped by the session codex-boss') as unknown,
  })
  expect((await testHome.status(victim.name)).phase).toBe('running')
})

it('killall in a session ends that session, names it in the reason, and ends no session of others', async () => {
  codexThat(`${ONESHOT} killall --yes`)
  const victim = await testHome.run('--name', 'victim', '--headless', '--', 'sleep', '600')
  await testHome.run('--agent', 'codex', '--name', 'boss', 'manage it')
  expect(await testHome.ended('codex-boss')).toMatchObject({
    outcome: 'stopped',
    reason: expect.stringContaining('stopped by the session codex-boss') as unknown,
  })
  expect((await testHome.status(victim.name)).phase).toBe('running')
})

it('a session with a budget that starts many sessions at once gives them no more than its budget in total', {
  tags: ['extended'],
}, async () => {
  const many = Array.from({ length: 6 }, (_, n) => n)
  codexThat(`
${many.map(n => `${ONESHOT} run --agent demo --name n${n} --budget-usd 1.5 'steps=100000 delay=100ms' &`).join('\n')}
wait`)
  await testHome.run('--agent', 'codex', '--name', 'boss', '--budget-usd', '4', 'manage it')
  const told = await answers()
  expect(told.match(/nothing is left of its budget beside the part reserved for/g)?.length, told).toBe(3)
  const children = (await testHome.list()).filter(({ agent }) => agent === 'demo')
  const budgets = await waitUntil('their records are on disk', () => {
    const files = children.map(({ id }) => sessionFolder(testHome.home, id).mirror)
    if (!files.every(file => fs.existsSync(file))) return undefined
    return files.map(file => (JSON.parse(fs.readFileSync(file, 'utf8')) as { spec: Spec }).spec.supervision.limits.usd)
  })
  expect(budgets.reduce((a, b) => (a ?? 0) + (b ?? 0), 0)).toBe(4)
})

it('the supervisor refuses a lone % in the path of a request with status 400 and logs no error of its own', async () => {
  await testHome.run('--name', 'some', '--headless', '--', 'true')
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const options = { socketPath: testHome.home.daemonSocket, path: '/v1/sessions/%/stop', method: 'POST' }
    http
      .request(options, response => resolve(response.statusCode))
      .on('error', reject)
      .end()
  })
  expect(status).toBe(400)
  expect(fs.readFileSync(path.join(testHome.home.root, 'daemon.log'), 'utf8')).not.toContain('URIError')
})

/** Sends these bytes. Returns the status of the answer, or `closed` if there was none. */
function exchange(bytes: string): Promise<string> {
  return new Promise(resolve => {
    const socket = net.connect(testHome.home.daemonSocket, () => socket.write(bytes))
    let answer = ''
    socket.on('data', data => {
      answer += data.toString()
      if (answer.includes('\r\n\r\n')) socket.destroy()
    })
    socket.on('error', () => resolve('closed'))
    socket.on('close', () => resolve(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'closed'))
  })
}

function post(path: string, body: string): Promise<string> {
  return exchange(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

it('the supervisor refuses malformed and hostile requests and continues to run', async () => {
  await testHome.run('--name', 'some', '--headless', '--', 'sleep', '600')
  const { pid } = await testHome.daemon()
  const idle = Array.from({ length: 300 }, () => net.connect(testHome.home.daemonSocket).on('error', () => undefined))
  const slow = Array.from({ length: 50 }, () => {
    const socket = net.connect(testHome.home.daemonSocket).on('error', () => undefined)
    socket.write('POST /v1/sessions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{')
    return socket
  })
  const plain = { agent: 'command', argv: ['true'], cwd: '/', env: {}, maxTime: null }
  const bodies = [
    '{"__proto__":{"agent":"command"}}',
    `${JSON.stringify(plain).slice(0, -1)},"__proto__":{"autonomy":"full"}}`,
    JSON.stringify({ ...plain, cwd: '/\0' }),
    JSON.stringify({ ...plain, cwd: 'relative' }),
    JSON.stringify({ ...plain, name: 'a\0b' }),
    JSON.stringify({ ...plain, argv: ['tr\0ue'] }),
    JSON.stringify({ ...plain, env: { A: '\0' } }),
    JSON.stringify({ ...plain, maxTime: Number.MAX_SAFE_INTEGER }),
    JSON.stringify(plain).replace('null', '1e400'),
    JSON.stringify(plain).replace('null', '9007199254740993'),
    JSON.stringify({ ...plain, memory: -1 }),
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    'null',
    '"\ud800"',
  ]
  const statuses = await Promise.all(bodies.map(body => post('/v1/sessions', body)))
  expect(statuses.map((status, at) => [bodies[at]?.slice(0, 60), status])).toEqual(
    bodies.map(body => [body.slice(0, 60), '400']),
  )
  const paths = ['..%2f..%2fx', '%00', '__proto__', 'constructor', '%F0', 'x'.repeat(5_000), "';drop table sessions"]
  for (const id of paths) expect(await post(`/v1/sessions/${encodeURI(id)}/stop`, '{}')).toMatch(/^4\d\d$/)
  expect(await exchange(`GET /v1/daemon HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`)).toMatch(
    /431|closed/,
  )
  expect(await exchange('GET /v1/daemon HTTP/1.1\r\nhost: x\r\noneshot-attempt: __proto__.1\r\n\r\n')).toBe('200')
  expect((await testHome.daemon()).pid).toBe(pid)
  expect((await testHome.status('command-some')).phase).toBe('running')
  for (const socket of [...idle, ...slow]) socket.destroy()
  await testHome.ok('stop', 'command-some')
  expect(fs.readFileSync(path.join(testHome.home.root, 'daemon.log'), 'utf8')).not.toMatch(/^ +at /m)
})
