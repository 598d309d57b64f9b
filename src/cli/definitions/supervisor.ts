import type { Command } from '../args/command.ts'
import { choiceType } from '../args/value-types.ts'
import { OPTIONS } from '../args/options.ts'

export const DAEMON_ACTIONS = ['start', 'stop', 'status', 'restart', 'log'] as const

export const DAEMON: Command = {
  name: 'daemon',
  group: 'Supervisor',
  summary: 'start, stop or inspect the supervisor',
  about: `Commands start the supervisor when they need it. Stopping it stops no work: programs keep
running unsupervised until the next command starts the supervisor again.

With --no-resume it starts in safe mode: it supervises programs that are alive, and holds
every other session until you resume it.

Its log says what it decided about each session, and why.`,
  arguments: [
    { valueType: choiceType('ACTION', DAEMON_ACTIONS), summary: `${DAEMON_ACTIONS.join(', ')}; status unless given` },
  ],
  options: [OPTIONS.noResume, OPTIONS.lines, OPTIONS.followLog, OPTIONS.json],
  examples: [
    { argv: ['daemon', 'status', '--json'], description: 'its pid, epoch, version and start time' },
    { argv: ['daemon', 'start', '--no-resume'], description: 'look first, before any work continues' },
    { argv: ['daemon', 'restart'], description: 'work is not touched' },
    { argv: ['daemon', 'log', '-n', '20'], description: 'what it noted last' },
    { argv: ['daemon', 'log', '--follow', '--json'], description: 'all sessions, as it happens: one object a line' },
  ],
}

export const BOOT_ACTIONS = ['install', 'remove', 'status'] as const

export const BOOT: Command = {
  name: 'boot',
  group: 'Supervisor',
  summary: 'start the supervisor at boot, so that work continues after a reboot',
  about: `install adds a systemd user unit, a launchd agent or a line in your crontab. It changes nothing
for other users and does not disturb running work. With systemd your user needs lingering, which
install switches on if it may: otherwise the unit starts only when you log in. launchd starts it
when you log in.

The supervisor starts at boot even if you called \`oneshot daemon stop\` before. To keep a session
from continuing after a reboot: \`oneshot stop\` it, or install with --no-resume.

status exits with 3 when nothing is installed, and with 1 when what is installed would not work,
for example after oneshot was moved or another Node was installed: then install again.`,
  arguments: [
    { valueType: choiceType('ACTION', BOOT_ACTIONS), summary: `${BOOT_ACTIONS.join(', ')}; status unless given` },
  ],
  options: [OPTIONS.with, OPTIONS.noResume, OPTIONS.dryRun, OPTIONS.json],
  examples: [
    { argv: ['boot', 'install'], description: 'in the best way that works here' },
    { argv: ['boot', 'install', '--with', 'cron', '--dry-run'], description: 'only show the line' },
    { argv: ['boot', 'install', '--no-resume'], description: 'start the supervisor, and let the sessions be' },
    { argv: ['boot', 'status'], description: 'is it installed, and would it work?' },
  ],
}

export const DOCTOR: Command = {
  name: 'doctor',
  group: 'Supervisor',
  summary: 'check this machine for everything that oneshot needs',
  about: 'Exits with 1 when a check fails. Nothing secret is printed.',
  arguments: [],
  options: [OPTIONS.fix, OPTIONS.json],
  examples: [
    { argv: ['doctor'], description: 'check' },
    { argv: ['doctor', '--fix'], description: 'close the state folder to others, start the supervisor' },
  ],
}

export const UPDATE: Command = {
  name: 'update',
  group: 'Supervisor',
  summary: 'install the newest version; running work is not touched',
  about: `A clone is fast-forwarded and rebuilt; an npm installation is updated by npm. Then the
supervisor is restarted. Running work is not touched.`,
  arguments: [],
  options: [OPTIONS.check, OPTIONS.json],
  examples: [
    { argv: ['update', '--check'], description: 'is there something new?' },
    { argv: ['update'], description: 'install it' },
  ],
}
