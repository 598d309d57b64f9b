import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attemptFolder } from '../../src/world/os/folders.ts'
import { run } from '../../src/world/os/run.ts'
import { House, until } from './house.ts'

const FILES = ['CHECKPOINTS.md', 'HEARTBEAT', 'LAST_STATE.md', 'RECOVERY.md', 'STATUS.md', 'session.log']

let house: House
beforeEach(() => {
  house = new House()
})
afterEach(() => house.close())

/** A file about a session, or about the newest; empty while it is not there. */
function read(file: string, project = house.project): string {
  const full = path.join(project, '.agent', file)
  return fs.existsSync(full) ? fs.readFileSync(full, 'utf8') : ''
}

function says(file: string, words: string | RegExp, project = house.project): Promise<string> {
  const isSaid = (text: string): boolean => (typeof words === 'string' ? text.includes(words) : words.test(text))
  const what = (): string => `${file} says ${words}; it says ${read(file, project)}`
  return until(`${file} says ${words}`, () => {
    const text = read(file, project)
    return isSaid(text) ? text : undefined
  }).catch(() => {
    throw new Error(`it never came to it that ${what()}`)
  })
}

async function git(...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  return (await run('git', [...identity, ...args], { cwd: house.project, env: house.env })).stdout
}

/** Everything below a folder, links not followed. */
function everything(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath, entry.name))
}

it('tells the truth while the agent works, after the supervisor was killed, and after the end', async () => {
  await git('init', '--quiet')
  const { name, pid } = await house.run('--agent', 'demo', '--name', 'auth', 'do it steps=6 delay=50ms hang=3 crash=2')
  await says('STATUS.md', /^# ● running demo-auth: restarted 1 time$/m)
  await says('STATUS.md', '- last words: • step 3 of 6\n')
  const running = await house.status(name)
  expect(read('STATUS.md')).toContain(`- attempt: 2 (1 restart)\n- pid: ${running.pid}\n`)
  expect(running.pid).not.toBe(pid)
  expect(fs.readdirSync(house.path('.agent', name)).sort()).toEqual(['.session', ...FILES])
  expect(await git('status', '--porcelain')).toBe('')
  await says('HEARTBEAT', /^\S+ running; pid \d+ alive; \d+\.\d\d s of CPU; /m)
  const { pid: supervisor } = await house.daemon()
  process.kill(supervisor, 'SIGKILL')
  await until('another supervisor is there', async () => {
    const { code, stdout } = await house.oneshot('daemon', 'status', '--json')
    return code === 0 && JSON.parse(stdout).pid !== supervisor ? true : undefined
  })
  process.kill(running.pid ?? 0, 'SIGKILL')
  await house.ended(name)
  await says('STATUS.md', /^# ✔ done demo-auth: /m)
  await says('session.log', 'All 6 steps are done.\n── done: ')
  expect(read('session.log').trim()).toBe(await house.ok('log', name))
  await says('HEARTBEAT', /^\S+ done; /m)
  await says('RECOVERY.md', 'it was: ✔ done;')
})

describe.each(['headless', 'tty'] as const)('a %s command', mode => {
  it('has its whole output in the log, attempt after attempt', async () => {
    const script = 'echo "life $(cat life)"; echo x >>life; printf "no end"; [ $(wc -l <life) -ge 3 ]'
    fs.writeFileSync(house.path('life'), '')
    const options = ['--restart', 'on-failure', '-c', 'restart-delay=10ms', `--${mode}`, '--name', 'lives']
    const { name } = await house.run(...options, '--', 'sh', '-c', script)
    await house.ended(name)
    const log = 'life \nno end\n── attempt 2\nlife x\nno end\n── attempt 3\nlife x\nx\nno end'
    await says('session.log', log)
    expect(read('session.log')).toBe(log)
  })

  it('has its output in the log while it runs', async () => {
    await house.run(`--${mode}`, '--', 'sh', '-c', 'echo one; until [ -e go ]; do sleep 0.1; done; echo two; cat')
    await says('session.log', 'one\n')
    fs.writeFileSync(house.path('go'), '')
    await says('session.log', 'one\ntwo\n')
  })
})

it('keeps the files of several sessions apart, with the newest at the top, and takes them away with their sessions', async () => {
  await git('init', '--quiet')
  await house.run('--agent', 'demo', '--name', 'one', 'steps=1 delay=1ms')
  await house.ended('one')
  await says('demo-one/STATUS.md', '# ✔ done')
  await house.run('--headless', '--name', 'two', '--', 'echo', 'two')
  await house.ended('two')
  await says('STATUS.md', /^# ✔ done command-two/m)
  expect(read('demo-one/session.log')).toContain('I will work on')
  expect(FILES.map(file => fs.readlinkSync(house.path('.agent', file)))).toEqual(
    FILES.map(file => `command-two/${file}`),
  )
  await house.ok('send', 'one', 'steps=1 delay=1ms') // Woken, it is the newest.
  await says('STATUS.md', /demo-one/)
  await house.ended('one')
  await says('STATUS.md', /^# ✔ done demo-one/m)
  await house.ok('clean', 'one')
  expect(fs.readlinkSync(house.path('.agent/session.log'))).toBe('command-two/session.log')
  expect(fs.existsSync(house.path('.agent/demo-one'))).toBe(false)
  await house.ok('clean', 'two')
  expect(fs.existsSync(house.path('.agent'))).toBe(false)
})

it.each(['with spaces', `it's "odd"`, 'new\nline', '$(touch pwned)', '-rf', 'ünï'])(
  'in a directory called %j everything is there, and can be typed',
  async odd => {
    const project = path.join(house.root, odd)
    fs.mkdirSync(project)
    await house.run('--cwd', project, '--headless', '--name', 'odd', '--', 'echo', 'hello there')
    await house.ended('odd')
    await says('STATUS.md', '# ✔ done command-odd', project)
    await says('session.log', 'hello there\n', project)
    await says('RECOVERY.md', 'it was: ✔ done', project)
    const again = read('RECOVERY.md', project).match(/^cd [\s\S]*?^oneshot run .*$/m)?.[0] ?? ''
    const shown = await run('sh', ['-c', `oneshot() { pwd; printf '<%s>' "$@"; }\n${again}`], {
      cwd: '/',
      env: house.env,
    })
    expect(shown.stdout).toBe(`${project}\n<run><--name><odd><--headless><--></usr/bin/echo><hello there>`)
    expect(fs.existsSync(path.join(house.root, 'pwned'))).toBe(false)
  },
)

it('a project that cannot be written to goes without, is noted once, and nobody’s work suffers', async () => {
  const { name } = await house.run('--cwd', '/proc', '--headless', '--', 'sh', '-c', 'echo fine')
  expect(await house.ended(name)).toMatchObject({ outcome: 'done' })
  expect(await house.ok('log', name)).toBe('fine')
  const log = (): string => fs.readFileSync(house.home.daemonLog, 'utf8')
  await until('it is noted', () => (log().includes('its files in /proc cannot be written') ? true : undefined))
  expect(log().match(/cannot be written/g)).toHaveLength(1)
})

it('no link in a project leads the writer out of it', async () => {
  const victim = path.join(house.root, 'victim')
  const folder = path.join(house.root, 'folder')
  fs.writeFileSync(victim, 'precious')
  fs.mkdirSync(folder)
  const hostile = [
    'until [ -e .agent/demo/HEARTBEAT ]; do sleep 0.02; done',
    `cd .agent/demo && for file in STATUS.md HEARTBEAT CHECKPOINTS.md LAST_STATE.md RECOVERY.md; do ln -sf ${victim} $file; ln -s ${victim} .$file.tmp; done`,
    `ln -f ${victim} session.log`,
    'echo done with the links',
  ].join('\n')
  fs.mkdirSync(house.path('.agent'))
  fs.symlinkSync(folder, house.path('.agent/command-led-astray'))
  const { name } = await house.run(
    '--headless',
    '--name',
    'hostile',
    '--',
    'sh',
    '-c',
    hostile.replaceAll('agent/demo', 'agent/command-hostile'),
  )
  await house.ended(name)
  await says('command-hostile/STATUS.md', '# ✔ done')
  await says('command-hostile/session.log', 'done with the links\n')
  await house.run('--headless', '--name', 'led-astray', '--', 'true')
  await house.ended('led-astray')
  await house.oneshot('daemon', 'stop') // Whatever it has to write is written.
  expect(fs.readFileSync(victim, 'utf8')).toBe('precious')
  expect(fs.readdirSync(folder)).toEqual([])
  for (const file of FILES) expect(fs.lstatSync(house.path('.agent/command-hostile', file)).isFile(), file).toBe(true)
})

it('secrets are in none of these files, and whole in the private ones', async () => {
  const github = `ghp_${'a1B2'.repeat(9)}`
  const own = 'correct-horse-battery'
  const env = { MY_DEPLOY_TOKEN: own }
  const prompt = `say=it ${github} steps=2 delay=1ms`
  await house.call(['run', '--agent', 'demo', '--name', 'agent', prompt], { env })
  const script = `echo "${github}"; echo "$MY_DEPLOY_TOKEN"; printf 'password: "%s"\\n' $(cat password)`
  fs.writeFileSync(house.path('password'), 'hunter2hunter2')
  await house.call(['run', '--headless', '--name', 'shell', '--', 'sh', '-c', script], { env })
  for (const name of ['demo-agent', 'command-shell']) {
    await house.ended(name)
    await says(`${name}/STATUS.md`, '# ✔ done')
  }
  await says('command-shell/session.log', `password: "${'*'.repeat(14)}"`)
  await says('demo-agent/session.log', `ghp_${'*'.repeat(36)}`)
  await house.oneshot('daemon', 'stop')
  const all = everything(house.path('.agent'))
    .map(file => fs.readFileSync(file, 'utf8'))
    .join('\n')
  for (const secret of [github, own, 'hunter2']) expect(all).not.toContain(secret.slice(4))
  const shell = (await house.list()).find(session => session.name === 'command-shell')
  expect(shell && house.output(shell).toString()).toBe(`${github}\n${own}\npassword: "hunter2hunter2"\n`)
  const modes = everything(house.home.sessions).map(file => [path.basename(file), fs.statSync(file).mode & 0o077])
  expect(modes.filter(([, mode]) => mode !== 0)).toEqual([])
  expect(shell && fs.statSync(attemptFolder(house.home, shell.id, 1).stdout).mode & 0o777).toBe(0o600)
})

it('a large log is put away compressed, and nothing of it is missing', async () => {
  await house.run('--headless', '--name', 'talk', '--', 'sh', '-c', 'seq -f "%.0f so it goes" 1 2000000')
  await house.ended('talk')
  await says('STATUS.md', '# ✔ done')
  const all = await until('all of it is there', () => {
    const folder = house.path('.agent/command-talk')
    const parts = [1, 2].map(n => path.join(folder, `session.log.${n}.gz`)).filter(part => fs.existsSync(part))
    const text = parts.map(part => zlib.gunzipSync(fs.readFileSync(part)).toString()).join('') + read('session.log')
    return parts.length === 2 && text.endsWith('2000000 so it goes\n') ? text : undefined
  })
  expect(all === Array.from({ length: 2_000_000 }, (_, i) => `${i + 1} so it goes\n`).join('')).toBe(true)
})

it('what RECOVERY.md says is what helps: look, resume, and do so from any shell', async () => {
  await house.run('--agent', 'demo', '--name', 'rescue', 'work write=done.txt steps=4 delay=10ms hang=3')
  await until('it has taken two steps', () =>
    fs.existsSync(house.path('done.txt')) && fs.readFileSync(house.path('done.txt'), 'utf8').includes('step 2')
      ? true
      : undefined,
  )
  await house.ok('stop', 'rescue')
  const page = await says('RECOVERY.md', 'it was: ■ stopped')
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
  await says('RECOVERY.md', 'oneshot send demo-rescue "and then this"')
  const files = blocks.find(block => block.startsWith('cd ') && block.includes('sessions')) ?? ''
  expect(await type(`${files}\ncat prompt transcript`)).toContain('All 4 steps are done')
})

it('can be switched off', async () => {
  await house.run('-c', 'project-files=false', '--headless', '--name', 'off', '--', 'true')
  await house.ended('off')
  await house.run('--headless', '--name', 'on', '--', 'true')
  await says('command-on/STATUS.md', '# ✔ done')
  await house.oneshot('daemon', 'stop') // Whatever it has to write is written.
  expect(fs.readdirSync(house.path('.agent')).sort()).toEqual([...FILES, 'command-on'].sort())
})

it('links that earlier versions left are healed or go with their sessions', async () => {
  const { id } = await house.run('--agent', 'demo', '--name', 'old', 'steps=1 delay=1ms')
  await house.ended('old')
  await says('STATUS.md', '# ✔ done')
  fs.symlinkSync(path.join(house.home.sessions, id, 'transcript'), house.path('.agent/demo-old.log'))
  fs.symlinkSync(path.join(house.home.sessions, 'gone', 'transcript'), house.path('.agent/demo-gone.log'))
  await house.ok('clean', 'old')
  expect(fs.existsSync(house.path('.agent'))).toBe(false)
})
