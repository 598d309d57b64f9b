import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../src/os/run.ts'
import { which } from '../../src/os/which.ts'
import { BootStubs } from './boot-stubs.ts'
import { TestHome, isAlive, waitUntil } from './test-home.ts'
import { obstacleToNamespaces, PrivateCgroup, systemctl, UserManager } from './namespaces.ts'

/** A real `systemd --user`; only logind, which needs a whole machine, is a stand-in. */
const obstacle = obstacleToNamespaces('systemd', 'systemctl')

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

/** Everything below has its manager, and an awkward name for its home. */
async function settle(): Promise<{ manager: UserManager; group: PrivateCgroup; stubs: BootStubs } | undefined> {
  const group = PrivateCgroup.make(testHome)
  if (group === undefined) return undefined
  testHome.defer(() => group.remove())
  const stubs = new BootStubs(testHome, ['loginctl', 'busctl'])
  testHome.env['PATH'] = `${stubs.bin}:${process.env['PATH']}`
  testHome.env['XDG_RUNTIME_DIR'] = path.join(testHome.root, 'run')
  const manager = await UserManager.start(testHome, group)
  return { manager, group, stubs }
}

const NO_GROUPS = 'control groups may not be made here'

async function unitName(): Promise<string> {
  const report = JSON.parse(await testHome.ok('boot', 'status', '--json')) as { installed: { where: string }[] }
  return path.basename(report.installed[0]?.where as string)
}

const stateOf = async (unit: string): Promise<string> => (await systemctl(testHome, 'is-active', unit)).stdout.trim()
const groupsOf = (pid: number): string => fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8')
const keeper = (): number => Number(fs.readFileSync(testHome.home.keeperPid, 'utf8'))

/** Waits for the supervisor that replaces this one. */
function successorOf(old: { pid: number; epoch: number }): Promise<{ pid: number; epoch: number }> {
  return waitUntil('another is in charge', async () => {
    const { code, stdout } = await testHome.oneshot('daemon', 'status', '--json')
    const view = code === 0 ? (JSON.parse(stdout) as { pid: number; epoch: number }) : undefined
    return view !== undefined && view.epoch > old.epoch ? view : undefined
  })
}

describe.skipIf(obstacle !== undefined)(
  `a real service manager${obstacle === undefined ? '' : ` (${obstacle})`}`,
  () => {
    it('lets an agent survive each end of the supervisor, the keeper and the unit', async ({ skip }) => {
      if ((await settle()) === undefined) return skip(NO_GROUPS)
      await testHome.ok('boot', 'install')
      const unit = await unitName()
      const first = await testHome.daemon()
      expect(await stateOf(unit)).toBe('active')
      expect(groupsOf(first.pid)).toContain(`/${unit}\n`)
      const agent = (await testHome.run('--name', 'long', '--headless', '--', 'sleep', '1000')).pid as number
      expect(groupsOf(agent), 'in a group below that of the unit').toMatch(new RegExp(`/${unit}/oneshot-`))

      process.kill(first.pid, 'SIGKILL')
      const second = await successorOf(first)
      expect(await stateOf(unit)).toBe('active')

      process.kill(second.pid, 'SIGSTOP') // It cannot give itself another keeper any more.
      process.kill(keeper(), 'SIGKILL')
      process.kill(second.pid, 'SIGKILL')
      const third = await successorOf(second)
      expect(await stateOf(unit)).toBe('active')

      expect(await systemctl(testHome, 'stop', unit)).toMatchObject({ code: 0, stderr: '' })
      expect({ unit: await stateOf(unit), supervisor: isAlive(third.pid) }).toEqual({
        unit: 'inactive',
        supervisor: false,
      })
      expect(fs.existsSync(testHome.home.downMarker), 'shims let it be').toBe(true)

      await systemctl(testHome, 'start', unit)
      const fourth = await successorOf(third)
      await systemctl(testHome, 'restart', unit)
      await successorOf(fourth)
      expect(await stateOf(unit)).toBe('active')
      expect(await testHome.status('long')).toMatchObject({ phase: 'running', pid: agent, restarts: 0 })
    })

    it('leaves a supervisor that a command started in charge, and the unit ends without an error', {
      tags: ['extended'],
    }, async ({ skip }) => {
      if ((await settle()) === undefined) return skip(NO_GROUPS)
      await testHome.ok('daemon', 'start')
      const before = await testHome.daemon()
      await testHome.ok('boot', 'install')
      const unit = await unitName()
      expect((await systemctl(testHome, 'start', unit)).code).toBe(0)
      await waitUntil('the unit has left', async () => ((await stateOf(unit)) === 'inactive' ? true : undefined))
      expect(await testHome.daemon()).toEqual(before)
    })

    it('starts the supervisor again with the manager, and also after daemon stop', async ({ skip }) => {
      const settled = await settle()
      if (settled === undefined) return skip(NO_GROUPS)
      await testHome.ok('boot', 'install')
      const first = await testHome.daemon()
      const { pid } = await testHome.run('--name', 'long', '--headless', '--', 'sleep', '1000')
      await settled.manager.stop()
      expect(isAlive(first.pid)).toBe(false)
      expect(isAlive(pid as number), 'the agent').toBe(true)
      await UserManager.start(testHome, settled.group)
      const second = await successorOf(first)
      expect(await testHome.status('long')).toMatchObject({ phase: 'running', pid })
      await testHome.ok('daemon', 'stop')
      await systemctl(testHome, 'start', await unitName())
      await successorOf(second)
    })

    it('forgets the unit after boot remove, and a running session stays supervised', {
      tags: ['extended'],
    }, async ({ skip }) => {
      if ((await settle()) === undefined) return skip(NO_GROUPS)
      await testHome.ok('boot', 'install')
      const unit = await unitName()
      const { pid } = await testHome.run('--name', 'long', '--headless', '--', 'sleep', '1000')
      await testHome.ok('boot', 'remove')
      expect((await systemctl(testHome, 'cat', unit)).code).not.toBe(0)
      expect(groupsOf((await testHome.daemon()).pid)).not.toContain(unit)
      // Without its file the unit would have taken the agents along with the supervisor.
      await testHome.ok('daemon', 'restart')
      await systemctl(testHome, 'stop', unit)
      expect(await testHome.status('long')).toMatchObject({ phase: 'running', pid, restarts: 0 })
    })

    it('gives up on a program that was moved away, and boot install repairs the unit', {
      tags: ['extended'],
    }, async ({ skip }) => {
      if ((await settle()) === undefined) return skip(NO_GROUPS)
      await testHome.ok('boot', 'install')
      const unit = await unitName()
      const file = path.join(testHome.env['XDG_CONFIG_HOME'] as string, 'systemd', 'user', unit)
      await testHome.ok('daemon', 'stop')
      fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/"[^"]*keeper\.sh"/, '"/gone/keeper.sh"'))
      await systemctl(testHome, 'daemon-reload')
      await systemctl(testHome, 'start', unit)
      await waitUntil('it has given up', async () => ((await stateOf(unit)) === 'failed' ? true : undefined), 60_000)
      fs.rmSync(testHome.home.downMarker, { force: true })
      await testHome.ok('boot', 'install')
      expect(await stateOf(unit)).toBe('active')
    })

    it('lets doctor warn about a login session that logind would end', async ({ skip }) => {
      const settled = await settle()
      if (settled === undefined) return skip(NO_GROUPS)
      const { group, stubs } = settled
      const [program = '', ...args] = group.within('session-7.scope', [path.join(stubs.bin, 'oneshot'), 'doctor'])
      const doctor = async (): Promise<string> => (await run(program, args, { env: testHome.env })).stdout
      stubs.write('rule', 'b true\nas 0\nas 1 "nobody"\n')
      expect(await doctor()).toMatch(
        /▲ warning logout: .*KillUserProcesses=yes.*\n +hint: loginctl enable-linger \S+ .*systemd-run/,
      )
      stubs.write('linger', '')
      expect(await doctor()).toMatch(/▲ warning logout: .*\n +hint: when no work runs: systemd-run --user --scope/)
      stubs.write('rule', 'b false\nas 0\nas 1 "root"\n')
      expect(await doctor()).toContain('✔ ok      logout: work continues when you log out')
    })
  },
)

it('systemd-analyze verify finds no fault in the unit', async ({ skip }) => {
  if (which('systemd-analyze', process.env, '/') === undefined) return skip('systemd-analyze is not installed')
  const unit = path.join(testHome.root, 'oneshot.service')
  testHome.env['ONESHOT_HOME'] = path.join(testHome.root, 'a b 50% $HOME "q"')
  fs.writeFileSync(unit, `${await testHome.ok('boot', 'install', '--with', 'systemd', '--dry-run')}\n`)
  const env = { ...testHome.env, XDG_RUNTIME_DIR: testHome.root }
  const verify = (): ReturnType<typeof run> => run('systemd-analyze', ['verify', '--user', '--man=no', unit], { env })
  expect(await verify()).toMatchObject({ code: 0, stdout: '', stderr: '' })
  fs.appendFileSync(unit, '[Service]\nKillMode=gently\n')
  expect((await verify()).stderr, 'it would have something to say').toContain('gently')
})
