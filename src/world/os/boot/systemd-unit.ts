import { type BootOrder, bootArgv, NO_RESUME, orderIn } from './boot-order.ts'

/**
 * A unit for the user's own service manager. The agents live in its control group, because the supervisor starts them; so
 * whatever happens to the unit, only its keeper may be ended by it.
 */
export function renderUnit(order: BootOrder): string {
  return `# Written by oneshot boot install; oneshot boot remove takes it away.
[Unit]
Description=oneshot supervisor
# A program that was moved away is not tried for ever.
StartLimitIntervalSec=30
StartLimitBurst=10

[Service]
Environment=${quoted(`ONESHOT_HOME=${order.home}`)}
Environment=${quoted(`PATH=${order.path}`)}
${order.noResume ? `Environment=${NO_RESUME}=1\n` : ''}ExecStart=${commandLine(bootArgv(order))}
# Also called when the keeper has left by itself, as it does when another supervisor is in charge: that one stays.
ExecStop=${commandLine(['/bin/sh', '-c', STOP, 'stop', order.node, order.program, 'daemon', 'stop'])}
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

/** What a unit of ours starts; undefined when it is none. */
export function readUnit(text: string): BootOrder | undefined {
  const argv = words(/^ExecStart=(.*)$/m.exec(text)?.[1] ?? '').map(word => word.replaceAll('$$', '$'))
  const settings = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) => words(line ?? ''))
  const path = settings.find(setting => setting.startsWith('PATH='))?.slice('PATH='.length)
  return orderIn(argv, path ?? '', text.includes(`\nEnvironment=${NO_RESUME}=1\n`))
}

const STOP = 'if [ -n "$MAINPID" ]; then exec "$@"; fi'

/** systemd puts variables in place of `$NAME`, and only in command lines. */
function commandLine(argv: readonly string[]): string {
  return argv.map(word => quoted(word.replaceAll('$', '$$$$'))).join(' ')
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`
}

function words(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) =>
    word.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%'),
  )
}
