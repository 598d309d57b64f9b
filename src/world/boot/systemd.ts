import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { replaceFile } from '../../os/files/file-io.ts'
import {
  type BootManager,
  type InstalledBoot,
  type RunCommand,
  createRunCommand,
  describeFailure,
  runOrThrow,
} from './boot-manager.ts'
import { type BootCommand, NO_RESUME, bootArgv, parseBootArgv } from './boot-command.ts'

/**
 * Manages a unit of the user's service manager. systemd starts it at boot for a user who lingers, else at the first
 * login.
 */
export function systemdManager(name: string, env: NodeJS.ProcessEnv): BootManager {
  // Computed for each call: enabling lingering creates the folder.
  const runCommand: RunCommand = (...words) => createRunCommand(withRuntimeFolder(env))(...words)
  const unit = `${name}.service`
  const folder = path.join(configFolder(env), 'systemd', 'user')
  const where = path.join(folder, unit)
  const link = path.join(folder, 'default.target.wants', unit)
  const systemctl = (...words: string[]): Promise<string> => runOrThrow(runCommand, 'systemctl', ['--user', ...words])
  return {
    name: 'systemd',
    where,
    whyUnavailable: () => whySystemdUnavailable(runCommand),
    render: renderUnit,
    async find(): Promise<InstalledBoot | undefined> {
      if (!fs.existsSync(where)) return undefined
      const text = fs.readFileSync(where, 'utf8')
      return { where, text, order: readUnit(text), isEnabled: exists(link) }
    },
    async install(command) {
      fs.mkdirSync(folder, { recursive: true })
      replaceFile(where, renderUnit(command))
      await systemctl('daemon-reload')
      await systemctl('enable', '--quiet', unit)
      // Fails if there is nothing to reset, which does not matter.
      await runCommand('systemctl', ['--user', 'reset-failed', unit])
    },
    async start() {
      await systemctl('start', unit)
    },
    async remove() {
      if ((await whySystemdUnavailable(runCommand)) !== undefined) {
        for (const file of [link, where]) fs.rmSync(file, { force: true })
        return { hasStopped: false }
      }
      // A unit without its file has the default settings, which end all processes it has ever started. So it stops
      // first.
      const hasStopped = (await runCommand('systemctl', ['--user', 'is-active', '--quiet', unit])).code === 0
      if (hasStopped) await systemctl('stop', unit)
      await systemctl('disable', '--quiet', unit)
      fs.rmSync(where, { force: true })
      await systemctl('daemon-reload')
      await runCommand('systemctl', ['--user', 'reset-failed', unit])
      return { hasStopped }
    },
  }
}

async function whySystemdUnavailable(runCommand: RunCommand): Promise<string | undefined> {
  const result = await runCommand('systemctl', ['--user', 'show-environment'])
  return result.code === 0 ? undefined : `no service manager of yours answers: ${describeFailure(result)}`
}

/** `su` and `sudo` remove the variable although the folder exists. */
function withRuntimeFolder(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folder = `/run/user/${process.getuid?.()}`
  return env['XDG_RUNTIME_DIR'] || !fs.existsSync(folder) ? env : { ...env, XDG_RUNTIME_DIR: folder }
}

function configFolder(env: NodeJS.ProcessEnv): string {
  const { XDG_CONFIG_HOME, HOME } = env
  if (XDG_CONFIG_HOME && path.isAbsolute(XDG_CONFIG_HOME)) return XDG_CONFIG_HOME
  return path.join(HOME || os.homedir(), '.config')
}

/** Returns true also for a dangling link. */
function exists(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
}

/**
 * Renders a unit for the user's service manager. The agents live in its control group, because the supervisor starts
 * them; so systemd may end only the keeper, whatever happens to the unit.
 */
export function renderUnit(command: BootCommand): string {
  return `# Written by oneshot boot install; oneshot boot remove takes it away.
[Unit]
Description=oneshot supervisor
# A program that was moved away is not tried for ever.
StartLimitIntervalSec=30
StartLimitBurst=10

[Service]
Environment=${quoteForSystemd(`ONESHOT_HOME=${command.home}`)}
Environment=${quoteForSystemd(`PATH=${command.path}`)}
${command.noResume ? `Environment=${NO_RESUME}=1\n` : ''}ExecStart=${systemdCommandLine(bootArgv(command))}
# Also called when the keeper has left by itself, as it does when another supervisor is in charge: that one stays.
ExecStop=${systemdCommandLine(['/bin/sh', '-c', STOP_SCRIPT, 'stop', command.node, command.program, 'daemon', 'stop'])}
TimeoutStopSec=30
# Agents outlive a stop, a restart and a failure of this unit, and one of them that runs out of memory takes nobody along.
KillMode=process
OOMPolicy=continue
TasksMax=infinity
Delegate=yes
Restart=on-failure
RestartSec=1

[Install]
WantedBy=default.target
`
}

/** Parses a unit that oneshot wrote; undefined for any other. */
export function readUnit(text: string): BootCommand | undefined {
  const argv = parseQuoted(/^ExecStart=(.*)$/m.exec(text)?.[1] ?? '').map(word => word.replaceAll('$$', '$'))
  const settings = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) => parseQuoted(line ?? ''))
  const path = settings.find(setting => setting.startsWith('PATH='))?.slice('PATH='.length)
  return parseBootArgv(argv, path ?? '', text.includes(`\nEnvironment=${NO_RESUME}=1\n`))
}

const STOP_SCRIPT = 'if [ -n "$MAINPID" ]; then exec "$@"; fi'

/** systemd replaces `$NAME` by variables, and only in command lines. */
function systemdCommandLine(argv: readonly string[]): string {
  return argv.map(word => quoteForSystemd(word.replaceAll('$', '$$$$'))).join(' ')
}

function quoteForSystemd(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`
}

function parseQuoted(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) =>
    word.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%'),
  )
}
