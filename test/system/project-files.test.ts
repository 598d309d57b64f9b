import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../src/os/run.ts'
import { TestHome, waitUntil } from './test-home.ts'
import { FILES, waitForText, readProjectFile } from './read-project-file.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

async function git(...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  return (await run('git', [...identity, ...args], { cwd: testHome.project, env: testHome.env })).stdout
}

it('project files are correct while the agent works, after a kill of the supervisor, and after the end', async () => {
  await git('init', '--quiet')
  const { name, pid } = await testHome.run(
    '--agent',
    'demo',
    '--name',
    'auth',
    'do it steps=6 delay=50ms hang=3 crash=2',
  )
  await waitForText(testHome, 'STATUS.md', /^# ● running demo-auth: restarted 1 time$/m)
  await waitForText(testHome, 'STATUS.md', '- last words: • step 3 of 6\n')
  const running = await testHome.status(name)
  expect(readProjectFile(testHome.project, 'STATUS.md')).toContain(`- attempt: 2 (1 restart)\n- pid: ${running.pid}\n`)
  expect(running.pid).not.toBe(pid)
  expect(fs.readdirSync(testHome.path('.agent', name)).sort()).toEqual(['.gitignore', '.session', ...FILES])
  expect(await git('status', '--porcelain')).toBe('')
  await waitForText(testHome, 'HEARTBEAT', /^\S+ running; pid \d+ alive; \d+\.\d\d s of CPU; /m)
  const { pid: supervisor } = await testHome.daemon()
  process.kill(supervisor, 'SIGKILL')
  await waitUntil('another supervisor is there', async () => {
    const { code, stdout } = await testHome.oneshot('daemon', 'status', '--json')
    return code === 0 && JSON.parse(stdout).pid !== supervisor ? true : undefined
  })
  process.kill(running.pid ?? 0, 'SIGKILL')
  await testHome.ended(name)
  await waitForText(testHome, 'STATUS.md', /^# ✔ done demo-auth: /m)
  await waitForText(testHome, 'session.log', 'All 6 steps are done.\n── done: ')
  expect(readProjectFile(testHome.project, 'session.log').trim()).toBe(await testHome.ok('log', name))
  await waitForText(testHome, 'HEARTBEAT', /^\S+ done; /m)
  await waitForText(testHome, 'RECOVERY.md', 'the session was: ✔ done;')
})

describe.each(['headless', 'tty'] as const)('a %s command', mode => {
  it('has its whole output in session.log, attempt after attempt', async () => {
    const script = 'echo "life $(cat life)"; echo x >>life; printf "no end"; [ $(wc -l <life) -ge 3 ]'
    fs.writeFileSync(testHome.path('life'), '')
    const options = ['--restart', 'on-failure', '-c', 'restart-delay=10ms', `--${mode}`, '--name', 'lives']
    const { name } = await testHome.run(...options, '--', 'sh', '-c', script)
    await testHome.ended(name)
    const log = 'life \nno end\n── attempt 2\nlife x\nno end\n── attempt 3\nlife x\nx\nno end'
    await waitForText(testHome, 'session.log', log)
    expect(readProjectFile(testHome.project, 'session.log')).toBe(log)
  })

  it('has its output in session.log while it runs', async () => {
    await testHome.run(`--${mode}`, '--', 'sh', '-c', 'echo one; until [ -e go ]; do sleep 0.1; done; echo two; cat')
    await waitForText(testHome, 'session.log', 'one\n')
    fs.writeFileSync(testHome.path('go'), '')
    await waitForText(testHome, 'session.log', 'one\ntwo\n')
  })
})

it('.agent separates the files of several sessions, links to the newest, and clean removes them', async () => {
  await git('init', '--quiet')
  await testHome.run('--agent', 'demo', '--name', 'one', 'steps=1 delay=1ms')
  await testHome.ended('one')
  await waitForText(testHome, 'demo-one/STATUS.md', '# ✔ done')
  await testHome.run('--headless', '--name', 'two', '--', 'echo', 'two')
  await testHome.ended('two')
  await waitForText(testHome, 'STATUS.md', /^# ✔ done command-two/m)
  expect(readProjectFile(testHome.project, 'demo-one/session.log')).toContain('I will work on')
  expect(FILES.map(file => fs.readlinkSync(testHome.path('.agent', file)))).toEqual(
    FILES.map(file => `command-two/${file}`),
  )
  await testHome.ok('send', 'one', 'steps=1 delay=1ms') // Woken, it is the newest.
  await waitForText(testHome, 'STATUS.md', /demo-one/)
  await testHome.ended('one')
  await waitForText(testHome, 'STATUS.md', /^# ✔ done demo-one/m)
  await testHome.ok('clean', 'one')
  expect(fs.readlinkSync(testHome.path('.agent/session.log'))).toBe('command-two/session.log')
  expect(fs.existsSync(testHome.path('.agent/demo-one'))).toBe(false)
  await testHome.ok('clean', 'two')
  expect(fs.existsSync(testHome.path('.agent'))).toBe(false)
})

it('oneshot compresses the parts of a large session.log and loses no line', { tags: ['extended'] }, async () => {
  await testHome.run('--headless', '--name', 'talk', '--', 'sh', '-c', 'seq -f "%.0f so it goes" 1 2000000')
  await testHome.ended('talk')
  await waitForText(testHome, 'STATUS.md', '# ✔ done')
  const all = await waitUntil('all of it is there', () => {
    const folder = testHome.path('.agent/command-talk')
    const parts = [1, 2].map(n => path.join(folder, `session.log.${n}.gz`)).filter(part => fs.existsSync(part))
    const text =
      parts.map(part => zlib.gunzipSync(fs.readFileSync(part)).toString()).join('') +
      readProjectFile(testHome.project, 'session.log')
    return parts.length === 2 && text.endsWith('2000000 so it goes\n') ? text : undefined
  })
  expect(all === Array.from({ length: 2_000_000 }, (_, i) => `${i + 1} so it goes\n`).join('')).toBe(true)
})

it('session.log has each line once although its writer is killed repeatedly', {
  tags: ['extended'],
}, async () => {
  const script = 'n=0; while [ ! -e go ]; do n=$((n+1)); echo "line $n of it"; sleep 0.002; done'
  const session = await testHome.run('--headless', '--name', 'count', '--', 'sh', '-c', script)
  for (let kill = 1; kill <= 3; kill++) {
    const { length } = await waitForText(testHome, 'session.log', /line/)
    await waitUntil('the log has grown', () =>
      readProjectFile(testHome.project, 'session.log').length > length ? true : undefined,
    )
    const pid = await waitUntil('a supervisor is there', async () => {
      const { code, stdout } = await testHome.oneshot('daemon', 'status', '--json')
      return code === 0 ? (JSON.parse(stdout).pid as number) : undefined
    })
    process.kill(pid, 'SIGKILL')
  }
  fs.writeFileSync(testHome.path('go'), '')
  await testHome.ended('count')
  await waitForText(testHome, 'STATUS.md', '# ✔ done')
  await testHome.oneshot('daemon', 'stop') // The supervisor writes the rest of its files first.
  expect(readProjectFile(testHome.project, 'session.log')).toBe(testHome.output(session).toString())
})

it('the commands in RECOVERY.md show and resume the session from any shell', async () => {
  await testHome.run('--agent', 'demo', '--name', 'rescue', 'work write=done.txt steps=4 delay=10ms hang=3')
  await testHome.hangs('rescue')
  await testHome.ok('stop', 'rescue')
  const page = await waitForText(testHome, 'RECOVERY.md', 'the session was: ■ stopped')
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)\n```$/gm)].map(match => match[1] ?? '')
  const { ONESHOT_HOME: _, ...env } = testHome.env
  const type = async (words: string): Promise<string> => {
    const first = blocks.filter(block => /^(?:export|oneshot\(\))/.test(block))
    const { code, stdout, stderr } = await run('sh', ['-c', [...first, words].join('\n')], { cwd: '/', env })
    expect({ words, code, ...(code !== 0 && { stdout, stderr }) }).toEqual({ words, code: 0 })
    return stdout
  }
  const looking = blocks.find(block => block.startsWith('oneshot status')) ?? ''
  expect(await type(looking)).toMatch(/^■ stopped demo-rescue: .*\n[\s\S]*I will work on: /)
  expect(blocks).toContain('oneshot resume demo-rescue')
  expect(await type('oneshot resume demo-rescue')).toContain('demo-rescue')
  expect(await testHome.ended('rescue')).toMatchObject({ outcome: 'done', attempt: 2 })
  await waitForText(testHome, 'RECOVERY.md', 'oneshot send demo-rescue "and then this"')
  const files = blocks.find(block => block.startsWith('cd ') && block.includes('sessions')) ?? ''
  expect(await type(`${files}\ncat prompt transcript`)).toContain('All 4 steps are done')
})

it('project-files=false switches the project files off', async () => {
  await testHome.run('-c', 'project-files=false', '--headless', '--name', 'off', '--', 'true')
  await testHome.ended('off')
  await testHome.run('--headless', '--name', 'on', '--', 'true')
  await waitForText(testHome, 'command-on/STATUS.md', '# ✔ done')
  await testHome.oneshot('daemon', 'stop') // The supervisor writes the rest of its files first.
  expect(fs.readdirSync(testHome.path('.agent')).sort()).toEqual(['.gitignore', ...FILES, 'command-on'].sort())
})

it('clean removes links that earlier versions left', async () => {
  const { id } = await testHome.run('--agent', 'demo', '--name', 'old', 'steps=1 delay=1ms')
  await testHome.ended('old')
  await waitForText(testHome, 'STATUS.md', '# ✔ done')
  fs.symlinkSync(path.join(testHome.home.sessions, id, 'transcript'), testHome.path('.agent/demo-old.log'))
  fs.symlinkSync(path.join(testHome.home.sessions, 'gone', 'transcript'), testHome.path('.agent/demo-gone.log'))
  await testHome.ok('clean', 'old')
  expect(fs.existsSync(testHome.path('.agent'))).toBe(false)
})
