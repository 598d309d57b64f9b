import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../src/world/os/run.ts'
import { which } from '../../src/world/os/which.ts'
import { BootStubs } from './boot-stubs.ts'
import { House, isAlive, until } from './house.ts'
import { obstacleToPrivacy, PrivateGroup, systemctl, UserManager } from './private-machine.ts'

/** A real `systemd --user`; only logind, which needs a whole machine, is a stand-in. */
const obstacle = obstacleToPrivacy('systemd', 'systemctl')

let house: House
beforeEach(() => {
  house = new House()
})
afterEach(() => house.close())

/** Everything below has its manager, and an awkward name for its home. */
async function settle(): Promise<{ manager: UserManager; group: PrivateGroup; stubs: BootStubs } | undefined> {
  const group = PrivateGroup.make(house)
  if (group === undefined) return undefined
  house.defer(() => group.remove())
  const stubs = new BootStubs(house, ['loginctl', 'busctl'])
  house.env['PATH'] = `${stubs.bin}:${process.env['PATH']}`
  house.env['XDG_RUNTIME_DIR'] = path.join(house.root, 'run')
  const manager = await UserManager.start(house, group)
  return { manager, group, stubs }
}

const NO_GROUPS = 'control groups may not be made here'

async function unitName(): Promise<string> {
  const report = JSON.parse(await house.ok('boot', 'status', '--json')) as { installed: { where: string }[] }
  return path.basename(report.installed[0]?.where as string)
}

const stateOf = async (unit: string): Promise<string> => (await systemctl(house, 'is-active', unit)).stdout.trim()
const groupsOf = (pid: number): string => fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8')
const keeper = (): number => Number(fs.readFileSync(house.home.keeperPid, 'utf8'))

/** The supervisor that is there once this one is not. */
function successorOf(old: { pid: number; epoch: number }): Promise<{ pid: number; epoch: number }> {
  return until('another is in charge', async () => {
    const { code, stdout } = await house.oneshot('daemon', 'status', '--json')
    const view = code === 0 ? (JSON.parse(stdout) as { pid: number; epoch: number }) : undefined
    return view !== undefined && view.epoch > old.epoch ? view : undefined
  })
}

describe.skipIf(obstacle !== undefined)(
  `on a real service manager${obstacle === undefined ? '' : ` (${obstacle})`}`,
  () => {
    it('no end of the supervisor, the keeper or the unit is the end of an agent', async ({ skip }) => {
      if ((await settle()) === undefined) return skip(NO_GROUPS)
      await house.ok('boot', 'install')
      const unit = await unitName()
      const first = await house.daemon()
      expect(await stateOf(unit)).toBe('active')
      expect(groupsOf(first.pid)).toContain(`/${unit}\n`)
      const agent = (await house.run('--name', 'long', '--headless', '--', 'sleep', '1000')).pid as number
      expect(groupsOf(agent), 'in a group below that of the unit').toMatch(new RegExp(`/${unit}/oneshot-`))

      process.kill(first.pid, 'SIGKILL')
      const second = await successorOf(first)
      expect(await stateOf(unit)).toBe('active')

      process.kill(second.pid, 'SIGSTOP') // It cannot give itself another keeper any more.
      process.kill(keeper(), 'SIGKILL')
      process.kill(second.pid, 'SIGKILL')
      const third = await successorOf(second)
      expect(await stateOf(unit)).toBe('active')

      expect(await systemctl(house, 'stop', unit)).toMatchObject({ code: 0, stderr: '' })
      expect({ unit: await stateOf(unit), supervisor: isAlive(third.pid) }).toEqual({
        unit: 'inactive',
        supervisor: false,
      })
      expect(fs.existsSync(house.home.downMarker), 'shims let it be').toBe(true)

      await systemctl(house, 'start', unit)
      const fourth = await successorOf(third)
      await systemctl(house, 'restart', unit)
      await successorOf(fourth)
      expect(await stateOf(unit)).toBe('active')
      expect(await house.status('long')).toMatchObject({ phase: 'running', pid: agent, restarts: 0 })
    })

    it('a supervisor that a command has started stays in charge, and the unit is content with that', async ({
      skip,
    }) => {
      if ((await settle()) === undefined) return skip(NO_GROUPS)
      await house.ok('daemon', 'start')
      const before = await house.daemon()
      await house.ok('boot', 'install')
      const unit = await unitName()
      expect((await systemctl(house, 'start', unit)).code).toBe(0)
      await until('the unit has left', async () => ((await stateOf(unit)) === 'inactive' ? true : undefined))
      expect(await house.daemon()).toEqual(before)
    })

    it('is there again with the manager, also when it was stopped on purpose', async ({ skip }) => {
      const settled = await settle()
      if (settled === undefined) return skip(NO_GROUPS)
      await house.ok('boot', 'install')
      const first = await house.daemon()
      const { pid } = await house.run('--name', 'long', '--headless', '--', 'sleep', '1000')
      await settled.manager.stop()
      expect(isAlive(first.pid)).toBe(false)
      expect(isAlive(pid as number), 'the agent').toBe(true)
      await UserManager.start(house, settled.group)
      const second = await successorOf(first)
      expect(await house.status('long')).toMatchObject({ phase: 'running', pid })
      await house.ok('daemon', 'stop')
      await systemctl(house, 'start', await unitName())
      await successorOf(second)
    })

    it('is removed under running work, which goes on and is supervised', async ({ skip }) => {
      if ((await settle()) === undefined) return skip(NO_GROUPS)
      await house.ok('boot', 'install')
      const unit = await unitName()
      const { pid } = await house.run('--name', 'long', '--headless', '--', 'sleep', '1000')
      await house.ok('boot', 'remove')
      expect((await systemctl(house, 'cat', unit)).code).not.toBe(0)
      expect(groupsOf((await house.daemon()).pid)).not.toContain(unit)
      // Without its file the unit would have taken the agents along with the supervisor.
      await house.ok('daemon', 'restart')
      await systemctl(house, 'stop', unit)
      expect(await house.status('long')).toMatchObject({ phase: 'running', pid, restarts: 0 })
    })

    it('a program that was moved away is not tried for ever, and the unit is mended by installing again', async ({
      skip,
    }) => {
      if ((await settle()) === undefined) return skip(NO_GROUPS)
      await house.ok('boot', 'install')
      const unit = await unitName()
      const file = path.join(house.env['XDG_CONFIG_HOME'] as string, 'systemd', 'user', unit)
      await house.ok('daemon', 'stop')
      fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/"[^"]*keeper\.sh"/, '"/gone/keeper.sh"'))
      await systemctl(house, 'daemon-reload')
      await systemctl(house, 'start', unit)
      await until('it has given up', async () => ((await stateOf(unit)) === 'failed' ? true : undefined), 60_000)
      fs.rmSync(house.home.downMarker, { force: true })
      await house.ok('boot', 'install')
      expect(await stateOf(unit)).toBe('active')
    })

    it('doctor knows a login session that logind would end', async ({ skip }) => {
      const settled = await settle()
      if (settled === undefined) return skip(NO_GROUPS)
      const { group, stubs } = settled
      const [program = '', ...args] = group.within('session-7.scope', [path.join(stubs.bin, 'oneshot'), 'doctor'])
      const doctor = async (): Promise<string> => (await run(program, args, { env: house.env })).stdout
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

it('systemd has nothing to say against the unit', async ({ skip }) => {
  if (which('systemd-analyze', process.env, '/') === undefined) return skip('systemd-analyze is not installed')
  const unit = path.join(house.root, 'oneshot.service')
  house.env['ONESHOT_HOME'] = path.join(house.root, 'a b 50% $HOME "q"')
  fs.writeFileSync(unit, `${await house.ok('boot', 'install', '--with', 'systemd', '--dry-run')}\n`)
  const env = { ...house.env, XDG_RUNTIME_DIR: house.root }
  const verify = (): ReturnType<typeof run> => run('systemd-analyze', ['verify', '--user', '--man=no', unit], { env })
  expect(await verify()).toMatchObject({ code: 0, stdout: '', stderr: '' })
  fs.appendFileSync(unit, '[Service]\nKillMode=gently\n')
  expect((await verify()).stderr, 'it would have something to say').toContain('gently')
})
