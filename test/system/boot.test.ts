import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { currentUserName } from '../../src/world/boot/boot-manager.ts'
import { which } from '../../src/os/which.ts'
import { BootStubs } from './boot-stubs.ts'
import { expectRefusal } from './expect-refusal.ts'
import { type CommandResult, TestHome, isAlive, MAIN, waitUntil } from './test-home.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

interface Report {
  installed: { with: string; where: string; isCurrent: boolean; noResume: boolean; program: string | null }[]
  linger: boolean | null
  problems: { message: string; hint: string }[]
}

/** Replaces these system programs by stubs and hides all others. */
function stub(...programs: ConstructorParameters<typeof BootStubs>[1]): BootStubs {
  const stubs = new BootStubs(testHome, programs)
  testHome.env['PATH'] = stubs.bin
  return stubs
}

async function status(): Promise<Report & { code: number | null }> {
  const { code, stdout } = await testHome.oneshot('boot', 'status', '--json')
  return { code, ...(JSON.parse(stdout) as Report) }
}

/** Runs a process that looks like cron until the test ends. */
function runCron(): void {
  const program = path.join(testHome.root, 'cron')
  fs.copyFileSync(which('sleep', process.env, '/') as string, program)
  const child = spawn(program, ['1000'], { stdio: 'ignore' })
  testHome.defer(() => new Promise(resolve => child.once('exit', resolve) && child.kill()))
}

/** Lists the user’s units, links included. */
function unitFiles(): string[] {
  const folder = path.join(testHome.env['XDG_CONFIG_HOME'] as string, 'systemd', 'user')
  return fs.existsSync(folder) ? (fs.readdirSync(folder, { recursive: true }) as string[]).sort() : []
}

describe('oneshot boot with systemd:', () => {
  it('install writes, enables and starts a unit, and switches lingering on', async () => {
    const stubs = stub('systemctl', 'loginctl', 'crontab')
    expect(await status()).toEqual({ code: 3, installed: [], linger: false, problems: [] })
    const answer = await testHome.oneshot('boot', 'install')
    expect(answer).toMatchObject({ code: 0, stdout: '' })
    expect(answer.stderr).toMatch(
      /^installed with systemd: .*\/systemd\/user\/oneshot-[0-9a-f]{8}\.service\n.* now lingers/,
    )
    const unit = path.basename(unitFiles().at(-1) as string)
    expect(unitFiles()).toEqual(['default.target.wants', `default.target.wants/${unit}`, unit])
    const calls = stubs.calls().filter(call => !call.includes('show-'))
    expect(calls.filter(call => call.startsWith('systemctl'))).toEqual([
      'systemctl --user daemon-reload',
      `systemctl --user enable --quiet ${unit}`,
      `systemctl --user reset-failed ${unit}`,
      `systemctl --user start ${unit}`,
    ])
    expect(calls).toContain(`loginctl --no-ask-password enable-linger ${currentUserName()}`)
    expect(await status()).toMatchObject({
      code: 0,
      installed: [{ with: 'systemd', isCurrent: true, noResume: false, program: MAIN }],
      linger: true,
      problems: [],
    })
  })

  it('a second install changes nothing; status reports an outdated, foreign or disabled unit, and install repairs it', {
    tags: ['extended'],
  }, async () => {
    stub('systemctl', 'loginctl')
    await testHome.ok('boot', 'install')
    const unit = (await status()).installed[0]?.where as string
    const text = fs.readFileSync(unit, 'utf8')
    await testHome.ok('boot', 'install')
    expect(fs.readFileSync(unit, 'utf8')).toBe(text)
    const spoilt: [string, string][] = [
      [text.replaceAll(MAIN, '/gone/main.cjs'), 'starts /gone/main.cjs, which does not exist'],
      [text.replaceAll(MAIN, import.meta.filename), `starts another oneshot: ${import.meta.filename}`],
      [text.replace('KillMode=process', 'KillMode=control-group'), 'was changed, or written by another version'],
      ['[Service]\nExecStart=/bin/true\n', 'does not start oneshot'],
    ]
    for (const [wrong, message] of spoilt) {
      fs.writeFileSync(unit, wrong)
      expect(await status()).toMatchObject({
        code: 1,
        problems: [{ message: expect.stringContaining(message), hint: 'oneshot boot install' }],
      })
      await testHome.ok('boot', 'install')
      expect(await status()).toMatchObject({ code: 0, problems: [] })
    }
    fs.rmSync(path.join(path.dirname(unit), 'default.target.wants', path.basename(unit)))
    expect(await status()).toMatchObject({ code: 1, problems: [{ message: expect.stringContaining('switched off') }] })
    await testHome.ok('boot', 'install')
    expect(fs.readFileSync(unit, 'utf8')).toBe(text)
    expect((await status()).code).toBe(0)
  })

  it('status accepts another PATH than the one of the installation', { tags: ['extended'] }, async () => {
    stub('systemctl', 'loginctl')
    await testHome.ok('boot', 'install')
    testHome.env['PATH'] = `/somewhere/else:${testHome.env['PATH']}`
    expect((await status()).code).toBe(0)
  })

  it('remove deletes the unit, and the supervisor of the unit starts again without it', async () => {
    const stubs = stub('systemctl', 'loginctl')
    await testHome.ok('boot', 'install')
    expect(stubs.read('active')).toBe('')
    const removed = await testHome.json<{ removed: string[] }>('boot', 'remove')
    expect(removed.removed).toEqual([expect.stringMatching(/\.service$/)])
    expect(unitFiles()).toEqual(['default.target.wants'])
    expect(stubs.read('active')).toBeUndefined()
    expect(await testHome.daemon()).toMatchObject({ home: testHome.home.root })
    expect((await testHome.oneshot('boot', 'remove')).stderr).toBe('nothing was installed\n')
    expect((await status()).code).toBe(3)
  })

  it('install switches lingering on if no user manager runs yet', { tags: ['extended'] }, async () => {
    const stubs = stub('systemctl', 'loginctl')
    stubs.write('asleep', '')
    await testHome.ok('boot', 'install')
    expect(await status()).toMatchObject({ code: 0, installed: [{ with: 'systemd' }], linger: true })
  })

  it('install uses cron if the user may not linger', async () => {
    const stubs = stub('systemctl', 'loginctl', 'crontab')
    stubs.write('denied', '')
    runCron()
    const answer = await testHome.oneshot('boot', 'install')
    expect(answer.stderr).toMatch(
      /^installed with cron: the crontab of \S+\nlingering could not be switched on for you/,
    )
    expect(await status()).toMatchObject({ code: 0, installed: [{ with: 'cron' }], linger: false })
  })

  it('install writes a unit and tells what is missing if the user may not linger and there is no cron', {
    tags: ['extended'],
  }, async () => {
    const stubs = stub('systemctl', 'loginctl')
    stubs.write('denied', '')
    const answer = await testHome.oneshot('boot', 'install')
    expect(answer.code).toBe(0)
    expect(answer.stderr).toContain(
      'lingering could not be switched on for you (Could not enable linger: Access denied)',
    )
    expect(answer.stderr).toContain(`sudo loginctl enable-linger ${currentUserName()}`)
    expect(await status()).toMatchObject({
      code: 1,
      linger: false,
      problems: [
        {
          message: expect.stringContaining('lingering is off for you'),
          hint: expect.stringContaining('enable-linger'),
        },
      ],
    })
  })

  it('install and remove leave running sessions and their supervisor alone, and start no supervisor that the user stopped', {
    tags: ['extended'],
  }, async () => {
    const stubs = stub('systemctl', 'loginctl')
    const { pid } = await testHome.run('--name', 'long', '--headless', '--', 'sleep', '1000')
    const before = await testHome.daemon()
    await testHome.ok('boot', 'install')
    expect(await testHome.daemon()).toEqual(before)
    await testHome.ok('boot', 'remove')
    expect(await testHome.daemon()).toEqual(before)
    await testHome.ok('daemon', 'stop')
    await testHome.ok('boot', 'install')
    expect(stubs.calls().filter(call => / (start|stop) /.test(call))).toEqual([])
    expect(isAlive(pid as number)).toBe(true)
  })
})

describe('oneshot boot with cron:', () => {
  it('install adds a line to the crontab, and remove restores the crontab byte for byte', async () => {
    const stubs = stub('crontab')
    const theirs =
      '# m h dom mon dow command\n0 5 * * 1\ttar -zcf /var/backups/home.tgz /home/ 50\\%\n\n@reboot  true  \n'
    stubs.write('crontab', theirs)
    await testHome.ok('boot', 'install')
    await testHome.ok('boot', 'install')
    const crontab = stubs.read('crontab') as string
    expect(crontab.startsWith(theirs)).toBe(true)
    expect(crontab.slice(theirs.length)).toMatch(/^@reboot ONESHOT_HOME=.* # oneshot boot oneshot-[0-9a-f]{8}\n$/)
    expect((await status()).installed).toMatchObject([{ with: 'cron', isCurrent: true }])
    await testHome.ok('boot', 'remove')
    expect(stubs.read('crontab')).toBe(theirs)
  })

  it('remove deletes a crontab that install created', { tags: ['extended'] }, async () => {
    const stubs = stub('crontab')
    await testHome.ok('boot', 'install')
    expect(stubs.read('crontab')).toContain(MAIN)
    await testHome.ok('boot', 'remove')
    expect(stubs.read('crontab')).toBeUndefined()
  })

  it('the crontab line starts the supervisor, also after the user stopped it', { tags: ['extended'] }, async () => {
    const stubs = stub('crontab')
    await testHome.ok('daemon', 'start')
    await testHome.ok('daemon', 'stop')
    await testHome.ok('boot', 'install')
    const line = (stubs.read('crontab') as string).replace('@reboot ', '').replaceAll('\\%', '%').trimEnd()
    // As cron does it: hardly any environment, and /bin/sh.
    const child = spawn('/bin/sh', ['-c', line], {
      env: { HOME: testHome.root, PATH: '/usr/bin:/bin' },
      stdio: 'ignore',
    })
    testHome.defer(async () => child.kill())
    await waitUntil('it is there', async () =>
      (await testHome.oneshot('daemon', 'status')).code === 0 ? true : undefined,
    )
    const session = await testHome.run('--name', 'after', '--agent', 'demo', 'steps=1 delay=1ms')
    expect(await testHome.ended(session.name)).toMatchObject({ outcome: 'done' })
  })

  it('install reports the error of crontab, and never writes a crontab that it cannot read', async () => {
    const stubs = stub('crontab')
    stubs.write('crontab', 'theirs\n')
    stubs.write('refuses', '')
    await expectRefusal(testHome, ['boot', 'install'], {
      exit: 1,
      code: 'boot-impossible',
      says: 'You (me) are not allowed to use this program (crontab)',
      hint: 'arrange for "oneshot daemon start" to run at boot as your user',
    })
    expect(stubs.read('crontab')).toBe('theirs\n')
  })
})

describe('oneshot boot with launchd:', () => {
  it('install writes and loads a launch agent, and remove deletes it', async () => {
    const stubs = stub('launchctl', 'crontab')
    const answer = await testHome.oneshot('boot', 'install')
    expect(answer.stderr).toContain('launchd starts it when you log in, not before')
    const folder = path.join(testHome.root, 'Library', 'LaunchAgents')
    const [name = ''] = fs.readdirSync(folder)
    expect(name).toMatch(/^oneshot-[0-9a-f]{8}\.supervisor\.plist$/)
    expect(stubs.read('loaded')).toBe('')
    expect(await status()).toMatchObject({ code: 0, installed: [{ with: 'launchd', isCurrent: true }] })
    stubs.write('disabled', name.replace('.plist', ''))
    expect(await status()).toMatchObject({ code: 1, problems: [{ message: expect.stringContaining('switched off') }] })
    await testHome.ok('boot', 'install')
    expect((await status()).code).toBe(0)
    await testHome.ok('boot', 'remove')
    expect({ files: fs.readdirSync(folder), loaded: stubs.read('loaded') }).toEqual({ files: [], loaded: undefined })
  })
})

describe('oneshot boot', () => {
  it('install --with replaces the previous way with the chosen one', { tags: ['extended'] }, async () => {
    stub('systemctl', 'loginctl', 'crontab')
    await testHome.ok('boot', 'install', '--with', 'cron')
    expect((await status()).installed.map(entry => entry.with)).toEqual(['cron'])
    await testHome.ok('boot', 'install', '--with', 'systemd')
    expect((await status()).installed.map(entry => entry.with)).toEqual(['systemd'])
    expect((await testHome.oneshot('boot', 'install', '--with', 'upstart')).code).toBe(2)
  })

  it('install is refused on a machine without a service manager, and tells what to do by hand', {
    tags: ['extended'],
  }, async () => {
    stub()
    await expectRefusal(testHome, ['boot', 'install'], {
      exit: 1,
      code: 'boot-impossible',
      says: 'systemctl is not on PATH',
      hint: 'arrange for "oneshot daemon start" to run at boot as your user',
    })
    expect(fs.existsSync(testHome.home.root)).toBe(false)
  })

  it('status and doctor do not offer boot install on a machine without a service manager', async () => {
    stub()
    const told = [await testHome.oneshot('boot', 'status'), await testHome.oneshot('doctor')].map(
      ({ stdout }) => stdout,
    )
    for (const text of told) expect(text).toContain('arrange for "oneshot daemon start" to run at boot as your user')
    for (const text of told) expect(text).not.toContain('oneshot boot install')
  })

  it('install --dry-run only shows the text that it would write', async () => {
    const stubs = stub('systemctl', 'loginctl', 'crontab')
    for (const way of ['systemd', 'cron', 'launchd']) {
      const shown = await testHome.ok('boot', 'install', '--dry-run', '--with', way)
      expect(shown).toContain(MAIN)
      const { text, where } = JSON.parse(
        await testHome.ok('boot', 'install', '--dry-run', '--with', way, '--json'),
      ) as Record<string, string>
      expect({ text: text?.trimEnd(), where }).toEqual({ text: shown, where: expect.any(String) })
    }
    expect({ linger: stubs.read('linger'), crontab: stubs.read('crontab'), units: unitFiles() }).toEqual({
      linger: undefined,
      crontab: undefined,
      units: [],
    })
    expect((await status()).code).toBe(3)
  })

  it('install --no-resume writes the safe mode into the unit or line, and starts no supervisor now', {
    tags: ['extended'],
  }, async () => {
    const stubs = stub('systemctl', 'loginctl', 'crontab')
    for (const way of ['systemd', 'cron']) {
      await testHome.ok('boot', 'install', '--no-resume', '--with', way)
      expect((await status()).installed).toMatchObject([{ with: way, noResume: true, isCurrent: true }])
    }
    expect(stubs.read('active')).toBeUndefined()
    expect(stubs.read('crontab')).toContain('ONESHOT_NO_RESUME=1')
  })
})

it('docs/json.md names every field of boot status --json', async () => {
  stub('systemctl', 'loginctl')
  await testHome.ok('boot', 'install')
  const page = fs.readFileSync(path.resolve(import.meta.dirname, '../../docs/json.md'), 'utf8')
  const rows = [
    ...page.slice(page.indexOf('## Boot'), page.indexOf('## Verify')).matchAll(/^\| `([\w[\].]+)` \|/gm),
  ].map(row => row[1] as string)
  const { installed, linger, problems } = await status()
  const fields = [
    ...Object.keys(installed[0] ?? {}).map(field => `installed[].${field}`),
    ...Object.keys({ linger, problems }),
  ]
  expect(rows.filter(row => row !== 'installed').sort()).toEqual(fields.sort())
})

describe('oneshot doctor', () => {
  interface Check {
    check: string
    status: string
    message: string
    hint?: string
  }
  const found = async (check: string): Promise<Check[]> => {
    const { stdout }: CommandResult = await testHome.oneshot('doctor', '--json')
    return (JSON.parse(stdout) as { checks: Check[] }).checks.filter(finding => finding.check === check)
  }

  it('tells whether the machine starts the supervisor at boot', async () => {
    stub('systemctl', 'loginctl')
    expect(await found('boot')).toMatchObject([{ status: 'note', hint: 'oneshot boot install' }])
    await testHome.ok('boot', 'install')
    expect(await found('boot')).toEqual([{ check: 'boot', status: 'ok', message: 'systemd starts the supervisor' }])
    fs.rmSync((await status()).installed[0]?.where as string)
    expect(await found('boot')).toMatchObject([{ status: 'note' }])
  })

  it('reports nothing about logout on a machine without logind', async () => {
    stub('crontab')
    expect(await found('logout')).toEqual([])
  })

  it('asks logind whether it ends processes at logout', { tags: ['extended'] }, async () => {
    const stubs = stub('busctl', 'loginctl')
    stubs.write('rule', 'b true\nas 0\nas 0\n')
    expect(await found('logout')).toMatchObject([{ check: 'logout' }])
    expect(stubs.calls()).toContain(
      'busctl --system get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager KillUserProcesses KillOnlyUsers KillExcludeUsers',
    )
  })
})
