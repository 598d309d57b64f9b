import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { attemptFolder } from '../../src/world/os/folders.ts'
import { run } from '../../src/world/os/run.ts'
import { which } from '../../src/world/os/which.ts'
import { House, until } from './house.ts'
import { FILES, says, shown } from './project-files.ts'

let house: House
beforeEach(() => {
  house = new House()
})
afterEach(() => house.close())

/** Everything below a folder, links not followed. */
function everything(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath, entry.name))
}

it.each(['with spaces', `it's "odd"`, 'new\nline', '$(touch pwned)', '-rf', 'ünï'])(
  'in a directory called %j everything is there, and can be typed',
  async odd => {
    const project = path.join(house.root, odd)
    fs.mkdirSync(project)
    await house.run('--cwd', project, '--headless', '--name', 'odd', '--', 'echo', 'hello there')
    await house.ended('odd')
    await says(project, 'STATUS.md', '# ✔ done command-odd')
    await says(project, 'session.log', 'hello there\n')
    await says(project, 'RECOVERY.md', 'the session was: ✔ done')
    const again = shown(project, 'RECOVERY.md').match(/^cd [\s\S]*?^oneshot run .*$/m)?.[0] ?? ''
    const typed = await run('sh', ['-c', `oneshot() { pwd; printf '<%s>' "$@"; }\n${again}`], {
      cwd: '/',
      env: house.env,
    })
    expect(typed.stdout).toBe(
      `${project}\n<run><--name><odd><--headless><--><${which('echo', process.env, '/')}><hello there>`,
    )
    expect(fs.existsSync(path.join(house.root, 'pwned'))).toBe(false)
  },
)

it('a project that cannot be written to goes without, is noted once, and nobody’s work suffers', async () => {
  const { name } = await house.run('--cwd', '/proc', '--headless', '--', 'sh', '-c', 'echo fine')
  expect(await house.ended(name)).toMatchObject({ outcome: 'done' })
  expect(await house.ok('log', name)).toBe('fine')
  const log = (): string => fs.readFileSync(house.home.daemonLog, 'utf8')
  await until('it is noted', () => (log().includes('cannot write its files in /proc') ? true : undefined))
  expect(log().match(/cannot write its files/g)).toHaveLength(1)
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
  await says(house, 'command-hostile/STATUS.md', '# ✔ done')
  await says(house, 'command-hostile/session.log', 'done with the links\n')
  await house.run('--headless', '--name', 'led-astray', '--', 'true')
  await house.ended('led-astray')
  await house.oneshot('daemon', 'stop') // Whatever it has to write is written.
  expect(fs.readFileSync(victim, 'utf8')).toBe('precious')
  expect(fs.readdirSync(folder)).toEqual([])
  for (const file of FILES) expect(fs.lstatSync(house.path('.agent/command-hostile', file)).isFile()).toBe(true)
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
    await says(house, `${name}/STATUS.md`, '# ✔ done')
  }
  await says(house, 'command-shell/session.log', `password: "${'*'.repeat(14)}"`)
  await says(house, 'demo-agent/session.log', `ghp_${'*'.repeat(36)}`)
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
