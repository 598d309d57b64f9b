import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { run } from '../../src/os/run.ts'
import { which } from '../../src/os/which.ts'
import { TestHome, waitUntil } from './test-home.ts'
import { FILES, waitForText, readProjectFile } from './read-project-file.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

/** Lists all files below a folder without following links. */
function everything(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath, entry.name))
}

it.each(['with spaces', `it's "odd"`, 'new\nline', '$(touch pwned)', '-rf', 'ünï'])(
  'oneshot writes its project files in a directory called %j, and a shell accepts the commands in them',
  async odd => {
    const project = path.join(testHome.root, odd)
    fs.mkdirSync(project)
    await testHome.run('--cwd', project, '--headless', '--name', 'odd', '--', 'echo', 'hello there')
    await testHome.ended('odd')
    await waitForText(project, 'STATUS.md', '# ✔ done command-odd')
    await waitForText(project, 'session.log', 'hello there\n')
    await waitForText(project, 'RECOVERY.md', 'the session was: ✔ done')
    const again = readProjectFile(project, 'RECOVERY.md').match(/^cd [\s\S]*?^oneshot run .*$/m)?.[0] ?? ''
    const typed = await run('sh', ['-c', `oneshot() { pwd; printf '<%s>' "$@"; }\n${again}`], {
      cwd: '/',
      env: testHome.env,
    })
    expect(typed.stdout).toBe(
      `${project}\n<run><--name><odd><--headless><--><${which('echo', process.env, '/')}><hello there>`,
    )
    expect(fs.existsSync(path.join(testHome.root, 'pwned'))).toBe(false)
  },
)

it('a session in a read-only folder runs without project files, and the log notes it once', async () => {
  const { name } = await testHome.run('--cwd', '/proc', '--headless', '--', 'sh', '-c', 'echo fine')
  expect(await testHome.ended(name)).toMatchObject({ outcome: 'done' })
  expect(await testHome.ok('log', name)).toBe('fine')
  const log = (): string => fs.readFileSync(testHome.home.daemonLog, 'utf8')
  await waitUntil('it is noted', () => (log().includes('cannot write its files in /proc') ? true : undefined))
  expect(log().match(/cannot write its files/g)).toHaveLength(1)
})

it('the writer of project files follows no link out of the project', async () => {
  const victim = path.join(testHome.root, 'victim')
  const folder = path.join(testHome.root, 'folder')
  fs.writeFileSync(victim, 'precious')
  fs.mkdirSync(folder)
  const hostile = [
    'until [ -e .agent/demo/HEARTBEAT ]; do sleep 0.02; done',
    `cd .agent/demo && for file in STATUS.md HEARTBEAT CHECKPOINTS.md LAST_STATE.md RECOVERY.md; do ln -sf ${victim} $file; ln -s ${victim} .$file.tmp; done`,
    `ln -f ${victim} session.log`,
    'echo done with the links',
  ].join('\n')
  fs.mkdirSync(testHome.path('.agent'))
  fs.symlinkSync(folder, testHome.path('.agent/command-led-astray'))
  const { name } = await testHome.run(
    '--headless',
    '--name',
    'hostile',
    '--',
    'sh',
    '-c',
    hostile.replaceAll('agent/demo', 'agent/command-hostile'),
  )
  await testHome.ended(name)
  await waitForText(testHome, 'command-hostile/STATUS.md', '# ✔ done')
  await waitForText(testHome, 'command-hostile/session.log', 'done with the links\n')
  await testHome.run('--headless', '--name', 'led-astray', '--', 'true')
  await testHome.ended('led-astray')
  await testHome.oneshot('daemon', 'stop') // The supervisor writes the rest of its files first.
  expect(fs.readFileSync(victim, 'utf8')).toBe('precious')
  expect(fs.readdirSync(folder)).toEqual([])
  for (const file of FILES) expect(fs.lstatSync(testHome.path('.agent/command-hostile', file)).isFile()).toBe(true)
})

it('project files hide secrets, and the private files keep them whole', async () => {
  const github = `ghp_${'a1B2'.repeat(9)}`
  const own = 'correct-horse-battery'
  const env = { MY_DEPLOY_TOKEN: own }
  const prompt = `say=it ${github} steps=2 delay=1ms`
  await testHome.call(['run', '--agent', 'demo', '--name', 'agent', prompt], { env })
  const script = `echo "${github}"; echo "$MY_DEPLOY_TOKEN"; printf 'password: "%s"\\n' $(cat password)`
  fs.writeFileSync(testHome.path('password'), 'hunter2hunter2')
  await testHome.call(['run', '--headless', '--name', 'shell', '--', 'sh', '-c', script], { env })
  for (const name of ['demo-agent', 'command-shell']) {
    await testHome.ended(name)
    await waitForText(testHome, `${name}/STATUS.md`, '# ✔ done')
  }
  await waitForText(testHome, 'command-shell/session.log', `password: "${'*'.repeat(14)}"`)
  await waitForText(testHome, 'demo-agent/session.log', `ghp_${'*'.repeat(36)}`)
  await testHome.oneshot('daemon', 'stop')
  const all = everything(testHome.path('.agent'))
    .map(file => fs.readFileSync(file, 'utf8'))
    .join('\n')
  for (const secret of [github, own, 'hunter2']) expect(all).not.toContain(secret.slice(4))
  const shell = (await testHome.list()).find(session => session.name === 'command-shell')
  expect(shell && testHome.output(shell).toString()).toBe(`${github}\n${own}\npassword: "hunter2hunter2"\n`)
  const modes = everything(testHome.home.sessions).map(file => [path.basename(file), fs.statSync(file).mode & 0o077])
  expect(modes.filter(([, mode]) => mode !== 0)).toEqual([])
  expect(shell && fs.statSync(attemptFolder(testHome.home, shell.id, 1).stdout).mode & 0o777).toBe(0o600)
})
