import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../src/world/os/run.ts'
import { House, until } from './house.ts'
import { FILES, says, shown } from './project-files.ts'

let house: House
beforeEach(() => {
  house = new House()
})
afterEach(() => house.close())

async function git(...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  return (await run('git', [...identity, ...args], { cwd: house.project, env: house.env })).stdout
}

it('tells the truth while the agent works, after the supervisor was killed, and after the end', async () => {
  await git('init', '--quiet')
  const { name, pid } = await house.run('--agent', 'demo', '--name', 'auth', 'do it steps=6 delay=50ms hang=3 crash=2')
  await says(house, 'STATUS.md', /^# ● running demo-auth: restarted 1 time$/m)
  await says(house, 'STATUS.md', '- last words: • step 3 of 6\n')
  const running = await house.status(name)
  expect(shown(house.project, 'STATUS.md')).toContain(`- attempt: 2 (1 restart)\n- pid: ${running.pid}\n`)
  expect(running.pid).not.toBe(pid)
  expect(fs.readdirSync(house.path('.agent', name)).sort()).toEqual(['.gitignore', '.session', ...FILES])
  expect(await git('status', '--porcelain')).toBe('')
  await says(house, 'HEARTBEAT', /^\S+ running; pid \d+ alive; \d+\.\d\d s of CPU; /m)
  const { pid: supervisor } = await house.daemon()
  process.kill(supervisor, 'SIGKILL')
  await until('another supervisor is there', async () => {
    const { code, stdout } = await house.oneshot('daemon', 'status', '--json')
    return code === 0 && JSON.parse(stdout).pid !== supervisor ? true : undefined
  })
  process.kill(running.pid ?? 0, 'SIGKILL')
  await house.ended(name)
  await says(house, 'STATUS.md', /^# ✔ done demo-auth: /m)
  await says(house, 'session.log', 'All 6 steps are done.\n── done: ')
  expect(shown(house.project, 'session.log').trim()).toBe(await house.ok('log', name))
  await says(house, 'HEARTBEAT', /^\S+ done; /m)
  await says(house, 'RECOVERY.md', 'the session was: ✔ done;')
})

describe.each(['headless', 'tty'] as const)('a %s command', mode => {
  it('has its whole output in the log, attempt after attempt', async () => {
    const script = 'echo "life $(cat life)"; echo x >>life; printf "no end"; [ $(wc -l <life) -ge 3 ]'
    fs.writeFileSync(house.path('life'), '')
    const options = ['--restart', 'on-failure', '-c', 'restart-delay=10ms', `--${mode}`, '--name', 'lives']
    const { name } = await house.run(...options, '--', 'sh', '-c', script)
    await house.ended(name)
    const log = 'life \nno end\n── attempt 2\nlife x\nno end\n── attempt 3\nlife x\nx\nno end'
    await says(house, 'session.log', log)
    expect(shown(house.project, 'session.log')).toBe(log)
  })

  it('has its output in the log while it runs', async () => {
    await house.run(`--${mode}`, '--', 'sh', '-c', 'echo one; until [ -e go ]; do sleep 0.1; done; echo two; cat')
    await says(house, 'session.log', 'one\n')
    fs.writeFileSync(house.path('go'), '')
    await says(house, 'session.log', 'one\ntwo\n')
  })
})

it('keeps the files of several sessions apart, with the newest at the top, and takes them away with their sessions', async () => {
  await git('init', '--quiet')
  await house.run('--agent', 'demo', '--name', 'one', 'steps=1 delay=1ms')
  await house.ended('one')
  await says(house, 'demo-one/STATUS.md', '# ✔ done')
  await house.run('--headless', '--name', 'two', '--', 'echo', 'two')
  await house.ended('two')
  await says(house, 'STATUS.md', /^# ✔ done command-two/m)
  expect(shown(house.project, 'demo-one/session.log')).toContain('I will work on')
  expect(FILES.map(file => fs.readlinkSync(house.path('.agent', file)))).toEqual(
    FILES.map(file => `command-two/${file}`),
  )
  await house.ok('send', 'one', 'steps=1 delay=1ms') // Woken, it is the newest.
  await says(house, 'STATUS.md', /demo-one/)
  await house.ended('one')
  await says(house, 'STATUS.md', /^# ✔ done demo-one/m)
  await house.ok('clean', 'one')
  expect(fs.readlinkSync(house.path('.agent/session.log'))).toBe('command-two/session.log')
  expect(fs.existsSync(house.path('.agent/demo-one'))).toBe(false)
  await house.ok('clean', 'two')
  expect(fs.existsSync(house.path('.agent'))).toBe(false)
})

it('a large log is put away compressed, and nothing of it is missing', async () => {
  await house.run('--headless', '--name', 'talk', '--', 'sh', '-c', 'seq -f "%.0f so it goes" 1 2000000')
  await house.ended('talk')
  await says(house, 'STATUS.md', '# ✔ done')
  const all = await until('all of it is there', () => {
    const folder = house.path('.agent/command-talk')
    const parts = [1, 2].map(n => path.join(folder, `session.log.${n}.gz`)).filter(part => fs.existsSync(part))
    const text =
      parts.map(part => zlib.gunzipSync(fs.readFileSync(part)).toString()).join('') +
      shown(house.project, 'session.log')
    return parts.length === 2 && text.endsWith('2000000 so it goes\n') ? text : undefined
  })
  expect(all === Array.from({ length: 2_000_000 }, (_, i) => `${i + 1} so it goes\n`).join('')).toBe(true)
})

it('a log of which its writer is killed again and again has no line twice, and none is missing', async () => {
  const script = 'n=0; while [ ! -e go ]; do n=$((n+1)); echo "line $n of it"; sleep 0.002; done'
  const session = await house.run('--headless', '--name', 'count', '--', 'sh', '-c', script)
  for (let kill = 1; kill <= 3; kill++) {
    const { length } = await says(house, 'session.log', /line/)
    await until('the log has grown', () => (shown(house.project, 'session.log').length > length ? true : undefined))
    const pid = await until('a supervisor is there', async () => {
      const { code, stdout } = await house.oneshot('daemon', 'status', '--json')
      return code === 0 ? (JSON.parse(stdout).pid as number) : undefined
    })
    process.kill(pid, 'SIGKILL')
  }
  fs.writeFileSync(house.path('go'), '')
  await house.ended('count')
  await says(house, 'STATUS.md', '# ✔ done')
  await house.oneshot('daemon', 'stop') // Whatever it has to write is written.
  expect(shown(house.project, 'session.log')).toBe(house.output(session).toString())
})

it('what RECOVERY.md says is what helps: look, resume, and do so from any shell', async () => {
  await house.run('--agent', 'demo', '--name', 'rescue', 'work write=done.txt steps=4 delay=10ms hang=3')
  await until('it has taken two steps', () =>
    fs.existsSync(house.path('done.txt')) && fs.readFileSync(house.path('done.txt'), 'utf8').includes('step 2')
      ? true
      : undefined,
  )
  await house.ok('stop', 'rescue')
  const page = await says(house, 'RECOVERY.md', 'the session was: ■ stopped')
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)\n```$/gm)].map(match => match[1] ?? '')
  const { ONESHOT_HOME: _, ...env } = house.env
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
  expect(await house.ended('rescue')).toMatchObject({ outcome: 'done', attempt: 2 })
  await says(house, 'RECOVERY.md', 'oneshot send demo-rescue "and then this"')
  const files = blocks.find(block => block.startsWith('cd ') && block.includes('sessions')) ?? ''
  expect(await type(`${files}\ncat prompt transcript`)).toContain('All 4 steps are done')
})

it('can be switched off', async () => {
  await house.run('-c', 'project-files=false', '--headless', '--name', 'off', '--', 'true')
  await house.ended('off')
  await house.run('--headless', '--name', 'on', '--', 'true')
  await says(house, 'command-on/STATUS.md', '# ✔ done')
  await house.oneshot('daemon', 'stop') // Whatever it has to write is written.
  expect(fs.readdirSync(house.path('.agent')).sort()).toEqual(['.gitignore', ...FILES, 'command-on'].sort())
})

it('links that earlier versions left are healed or go with their sessions', async () => {
  const { id } = await house.run('--agent', 'demo', '--name', 'old', 'steps=1 delay=1ms')
  await house.ended('old')
  await says(house, 'STATUS.md', '# ✔ done')
  fs.symlinkSync(path.join(house.home.sessions, id, 'transcript'), house.path('.agent/demo-old.log'))
  fs.symlinkSync(path.join(house.home.sessions, 'gone', 'transcript'), house.path('.agent/demo-gone.log'))
  await house.ok('clean', 'old')
  expect(fs.existsSync(house.path('.agent'))).toBe(false)
})
