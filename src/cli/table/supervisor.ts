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
