import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parseLoginScope } from './logind.ts'
import { isKilledAtLogout, readLogindFiles, parseBusProperties } from './logind.ts'

function onDisk(files: Record<string, string>): ReturnType<typeof readLogindFiles> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      fs.mkdirSync(path.join(root, path.dirname(name)), { recursive: true })
      fs.writeFileSync(path.join(root, name), text)
    }
    return readLogindFiles(root)
  } finally {
    fs.rmSync(root, { recursive: true })
  }
}

test('parseBusProperties reads the output of busctl', () => {
  expect(parseBusProperties('b true\nas 0\nas 2 "root" "me"\n')).toEqual({
    killsUserProcesses: true,
    only: [],
    except: ['root', 'me'],
  })
  expect(parseBusProperties('b false\nas 1 "me"\nas 0\n')).toEqual({
    killsUserProcesses: false,
    only: ['me'],
    except: ['root'],
  })
})

test('without configuration files logind kills no processes, and never those of root unless a file says so', () => {
  expect(onDisk({})).toEqual({ killsUserProcesses: false, only: [], except: ['root'] })
  expect(onDisk({ 'etc/systemd/logind.conf': '[Login]\n#KillUserProcesses=yes\nKillExcludeUsers=\n' })).toEqual({
    killsUserProcesses: false,
    only: [],
    except: [],
  })
})

test('the last file counts: drop-ins by name, and a file in /etc hides one of the same name elsewhere', () => {
  const { killsUserProcesses, only } = onDisk({
    'etc/systemd/logind.conf': 'KillUserProcesses=no\n',
    'usr/lib/systemd/logind.conf.d/50-vendor.conf': 'KillUserProcesses=yes\nKillOnlyUsers=guest  me\n',
    'usr/lib/systemd/logind.conf.d/60-hidden.conf': 'KillUserProcesses=no\n',
    'etc/systemd/logind.conf.d/60-hidden.conf': '# nothing\n',
    'etc/systemd/logind.conf.d/90-backup.conf~': 'KillUserProcesses=no\n',
  })
  expect({ killsUserProcesses, only }).toEqual({ killsUserProcesses: true, only: ['guest', 'me'] })
})

test.each([
  [{ killsUserProcesses: false, only: [], except: [] }, false],
  [{ killsUserProcesses: true, only: [], except: ['root'] }, true],
  [{ killsUserProcesses: true, only: [], except: ['me'] }, false],
  [{ killsUserProcesses: true, only: ['guest'], except: [] }, false],
  [{ killsUserProcesses: false, only: ['me'], except: ['root'] }, true],
  [{ killsUserProcesses: true, only: ['me'], except: ['me'] }, false],
])('%j kills the processes of the user: %s', (rule, expected) => {
  expect(isKilledAtLogout(rule, 'me')).toBe(expected)
})

test.each([
  ['0::/user.slice/user-1000.slice/session-3.scope\n', 'session'],
  ['0::/user.slice/user-1000.slice/user@1000.service/app.slice/oneshot.service\n', 'manager'],
  ['0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-term-session-1.scope\n', 'manager'],
  ['1:name=systemd:/user.slice/user-0.slice/session-c1.scope\n0::/\n', 'session'],
  ['0::/system.slice/cron.service\n', 'elsewhere'],
])('%j is in the scope %s', (groups, expected) => {
  expect(parseLoginScope(groups)).toBe(expected)
})
