import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { homeAt } from '../../state/home.ts'
import { which } from '../../os/which.ts'
import { type BootCommand, bootArgv, bootName, createBootCommand } from './boot-command.ts'
import { findLine, readCronLine, renderCronLine, withLine, withoutLine } from './cron.ts'
import { readPlist, renderPlist } from './launchd.ts'
import { readUnit, renderUnit } from './systemd.ts'

const plain: BootCommand = {
  home: '/home/me/.local/state/oneshot',
  keeper: '/opt/oneshot/dist/keeper.sh',
  node: '/usr/bin/node',
  program: '/opt/oneshot/dist/main.cjs',
  path: '/usr/local/bin:/usr/bin:/bin',
  noResume: false,
}

/** Folder names that a user may choose, above all characters with a meaning in one of the three formats. */
const name = fc.string({
  unit: fc.constantFrom(
    ...'ab %$"\'&<>;#*!{}[]()=~`|?@é漢'.split(''),
    '%%',
    '$$',
    "''",
    '"; exec ',
    ' # oneshot boot oneshot',
  ),
  maxLength: 12,
})
const file = name.map(text => `/${text}`)
const order = fc.record({ home: file, keeper: file, node: file, program: file, path: file, noResume: fc.boolean() })
const backslashes = order.map(given => ({ ...given, home: `${given.home}\\`, node: `/\\"${given.node}` }))

test('readUnit, readPlist and readCronLine return the rendered command for any folder names', () => {
  fc.assert(
    fc.property(fc.oneof(order, backslashes), given => {
      expect(readUnit(renderUnit(given))).toEqual(given)
      expect(readPlist(renderPlist('oneshot.supervisor', given))).toEqual(given)
    }),
  )
  fc.assert(
    fc.property(order, given => {
      expect(readCronLine(renderCronLine('oneshot', given))).toEqual(given)
    }),
  )
})

test('the readers ignore text that oneshot did not write', () => {
  expect(readUnit('[Service]\nExecStart=/usr/bin/node server.js\n')).toBeUndefined()
  expect(readPlist('<plist><dict></dict></plist>')).toBeUndefined()
  expect(readCronLine('@reboot /usr/bin/true')).toBeUndefined()
})

describe('renderUnit', () => {
  test('lets systemd end only the keeper, and puts the start limits where systemd reads them', () => {
    const text = renderUnit(plain)
    for (const line of ['KillMode=process', 'Delegate=yes', 'OOMPolicy=continue', 'WantedBy=default.target']) {
      expect(text.split('\n')).toContain(line)
    }
    const [, unit = '', service = ''] = text.split(/^\[\w+\]$/m)
    expect(unit).toContain('StartLimitBurst=')
    expect(service).not.toContain('StartLimit')
  })

  test('escapes %, $ and quotes for systemd', () => {
    const text = renderUnit({ ...plain, home: '/a b/50%/$HOME "x"\\' })
    expect(text).toContain('Environment="ONESHOT_HOME=/a b/50%%/$HOME \\"x\\"\\\\"')
    expect(text).toContain('"/a b/50%%/$$HOME \\"x\\"\\\\" "/usr/bin/node"')
  })

  test('sets the safe mode only on request', () => {
    expect(renderUnit(plain)).not.toContain('NO_RESUME')
    expect(renderUnit({ ...plain, noResume: true })).toContain('\nEnvironment=ONESHOT_NO_RESUME=1\n')
  })
})

test('python parses the plist to the intended values', ({ skip }) => {
  if (which('python3', process.env, '/') === undefined) return skip('there is no python3 here')
  const given = { ...plain, home: `/a & b/<"it's">/漢`, noResume: true }
  const script = 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
  const output = execFileSync('python3', ['-c', script], { input: renderPlist('x&y.supervisor', given) })
  expect(JSON.parse(output.toString())).toEqual({
    Label: 'x&y.supervisor',
    ProgramArguments: bootArgv(given),
    EnvironmentVariables: { ONESHOT_HOME: given.home, PATH: given.path, ONESHOT_NO_RESUME: '1' },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    AbandonProcessGroup: true,
    ProcessType: 'Interactive',
  })
})

describe('a cron line', () => {
  /** Processes a command as cron does before it calls the shell. */
  const asCron = (line: string): string => line.replace(/^@reboot /, '').replaceAll('\\%', '%')

  test('starts the keeper with unchanged arguments and removes the mark of an earlier stop', () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), `os-it's $HOME 50% "q" `))
    try {
      const keeper = path.join(folder, 'keeper.sh')
      fs.writeFileSync(keeper, `printf '%s\\n' "$PATH" "$ONESHOT_HOME" "$@" >"$1/said"`)
      fs.writeFileSync(path.join(folder, 'down'), '')
      const given = { ...plain, home: folder, keeper, node: '/no de', program: '/x;y', path: `/usr/bin:/bin:/it's` }
      execFileSync('/bin/sh', ['-c', asCron(renderCronLine('oneshot', given))])
      const said = fs.readFileSync(path.join(folder, 'said'), 'utf8').trimEnd().split('\n')
      expect(said).toEqual([given.path, folder, folder, '/no de', '/x;y'])
      expect(fs.existsSync(path.join(folder, 'down'))).toBe(false)
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  })

  test('leaves every other byte of the crontab unchanged', () => {
    const lines = [
      '# mine\n',
      '*/5 * * * *\techo 50\\%  \n',
      '\n',
      '@reboot true # oneshot boot\n',
      'MAILTO=""\n',
      '\r\n',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...lines)), fc.boolean(), (chosen, isOpen) => {
        const theirs = chosen.join('') + (isOpen ? '0 4 * * * no line break at the end' : '')
        const once = withLine(theirs, 'oneshot', renderCronLine('oneshot', plain))
        expect(once.startsWith(theirs)).toBe(true)
        expect(withoutLine(once, 'oneshot').trimEnd()).toBe(theirs.trimEnd())
        if (!isOpen) expect(withoutLine(once, 'oneshot')).toBe(theirs)
        const twice = withLine(once, 'oneshot', renderCronLine('oneshot', { ...plain, node: '/new/node' }))
        expect(twice.split('\n').filter(line => line.endsWith('# oneshot boot oneshot'))).toHaveLength(1)
        expect(readCronLine(findLine(twice, 'oneshot') ?? '')?.node).toBe('/new/node')
      }),
    )
  })

  test('does not match the line of another home', () => {
    const both = withLine(`${renderCronLine('oneshot-1', plain)}\n`, 'oneshot', renderCronLine('oneshot', plain))
    expect(both.split('\n').filter(line => line !== '')).toHaveLength(2)
    expect(withoutLine(both, 'oneshot')).toBe(`${renderCronLine('oneshot-1', plain)}\n`)
  })

  test('refuses a backslash', () => {
    expect(() => renderCronLine('oneshot', { ...plain, home: '/a\\b' })).toThrow('backslash')
  })
})

describe('a boot command', () => {
  test('has a different name for each home, and a plain one for the default home', () => {
    expect(bootName(homeAt(path.join(os.homedir(), '.local/state/oneshot')))).toBe('oneshot')
    expect(bootName(homeAt('/x/one'))).toMatch(/^oneshot-[0-9a-f]{8}$/)
    expect(bootName(homeAt('/x/one'))).not.toBe(bootName(homeAt('/x/two')))
  })

  test('has a PATH of absolute folders, including the system’s own', () => {
    const env = { PATH: '.:/opt/my tools::/usr/bin:rel/ative:/opt/my tools:/odd\nfolder' }
    const { path: search } = createBootCommand(homeAt('/x/one'), env, { noResume: false })
    expect(search).toBe('/opt/my tools:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin')
  })

  test('refuses a line break, which no unit, plist or crontab can hold safely', () => {
    expect(() => createBootCommand(homeAt('/x/one\nExecStartPre=/bin/evil'), {}, { noResume: false })).toThrow(
      'line break',
    )
  })
})
