import type { Command } from './command.ts'
import { choice } from './kinds.ts'
import { OPTIONS } from './options.ts'

export const DAEMON_ACTIONS = ['start', 'stop', 'status', 'restart', 'log'] as const

export const DAEMON: Command = {
  name: 'daemon',
  group: 'Supervisor',
  summary: 'start, stop or inspect the supervisor',
  about: `Commands start it when they need it. Stopping it stops no work: what runs goes on
unsupervised until the next command starts the supervisor again.

With --no-resume it starts in safe mode: what is alive is supervised, and everything else
is held until you resume it.

Its log tells what it decided about each session, and why.`,
  arguments: [{ kind: choice('ACTION', DAEMON_ACTIONS), summary: `${DAEMON_ACTIONS.join(', ')}; status unless given` }],
  options: [OPTIONS.noResume, OPTIONS.lines, OPTIONS.json],
  examples: [
    { argv: ['daemon', 'status', '--json'], says: 'its pid, epoch, version and start time' },
    { argv: ['daemon', 'start', '--no-resume'], says: 'look first, before anything goes on' },
    { argv: ['daemon', 'restart'], says: 'work is not touched' },
    { argv: ['daemon', 'log', '-n', '20'], says: 'what it noted last' },
  ],
}

export const BOOT_ACTIONS = ['install', 'remove', 'status'] as const

export const BOOT: Command = {
  name: 'boot',
  group: 'Supervisor',
  summary: 'have the supervisor started with the machine, so that work goes on after a reboot',
  about: `A systemd user unit, a launchd agent or a line in your crontab starts the supervisor. Nothing is
done for other users, and running work is not disturbed. With systemd you have to linger, which
install switches on where you may: else your service manager starts only when you log in. launchd
starts it when you log in.

It is started even if \`oneshot daemon stop\` was called before the reboot: that is for as long as
the machine runs. What shall not go on: \`oneshot stop\` it, install with --no-resume, or remove.

status exits with 3 when nothing is installed, and with 1 when what is installed would not work;
to install again mends it, as after oneshot was moved or another Node was installed.`,
  arguments: [{ kind: choice('ACTION', BOOT_ACTIONS), summary: `${BOOT_ACTIONS.join(', ')}; status unless given` }],
  options: [OPTIONS.with, OPTIONS.noResume, OPTIONS.dryRun, OPTIONS.json],
  examples: [
    { argv: ['boot', 'install'], says: 'in the best way that works here' },
    { argv: ['boot', 'install', '--with', 'cron', '--dry-run'], says: 'only show the line' },
    { argv: ['boot', 'install', '--no-resume'], says: 'start the supervisor, and let the sessions be' },
    { argv: ['boot', 'status'], says: 'is it installed, and would it work?' },
  ],
}

export const DOCTOR: Command = {
  name: 'doctor',
  group: 'Supervisor',
  summary: 'check that everything oneshot needs is in order',
  about: 'Exits with 1 when a check fails. Nothing secret is printed.',
  arguments: [],
  options: [OPTIONS.fix, OPTIONS.json],
  examples: [
    { argv: ['doctor'], says: 'check' },
    { argv: ['doctor', '--fix'], says: 'close the state folder to others, start the supervisor' },
  ],
}

export const UPDATE: Command = {
  name: 'update',
  group: 'Supervisor',
  summary: 'install the newest version and hand the sessions over to it',
  about: `A clone is fast-forwarded and rebuilt; an npm installation is updated by npm. Then the
supervisor is restarted. Running work is not touched.`,
  arguments: [],
  options: [OPTIONS.check, OPTIONS.json],
  examples: [
    { argv: ['update', '--check'], says: 'is there something new?' },
    { argv: ['update'], says: 'install it' },
  ],
}
