import path from 'node:path'
import { type Contender, interleave, timeCommand } from '../measure/time-command.ts'
import { Pm2 } from '../peers/pm2.ts'
import type { NotMeasured } from '../peers/install.ts'
import type { BenchHome } from '../product/bench-home.ts'
import { type Aim, milliseconds, type Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'

const AHEAD: Aim = { of: 'ratio', is: 'below', limit: 1 }
const READ_AIM: Aim = { of: 'ratio', is: 'at most', limit: 1.45 }
const LAUNCHER_AIM: Aim = { of: 'ratio', is: 'at most', limit: 2 }
const RUN_AIM: Aim = { of: 'ratio', is: 'at most', limit: 2.5 }

/** Measures how long a user waits for `run` and `status`, compared with an empty Node program, tmux and pm2. */
export async function latency(context: BenchContext): Promise<Row[]> {
  const home = await context.home('latency')
  const pm2 = await context.pm2('pm2-one')
  const sleeper = await home.start(['sleep', '100000'])
  const tmux = context.closeAtEnd(tmuxServer(context))
  const times = await interleave<string>(
    context.rounds(40, 5),
    {
      node: () => timeCommand(emptyNode(context)),
      tmux: () => timeCommand(tmux.newSession()),
      run: round => timeCommand(home.command('run', '--headless', '--name', `run-${round}`, '--', 'true')),
      status: () => timeCommand(home.command('status', sleeper.name)),
      launcher: () => timeCommand(home.launcher('status', sleeper.name)),
      ...(pm2 instanceof Pm2 ? pm2Contenders(pm2.growTo(1)) : {}),
    },
    round => tidy(round, home, pm2),
  )
  const of = (name: string) => (times[name] === undefined ? (pm2 as NotMeasured) : milliseconds(times[name]))
  const row = (figure: string, ours: string, theirs: string, name: string, aim?: Aim): Row => ({
    figure,
    ours: milliseconds(times[ours] as NonNullable<(typeof times)[string]>),
    beside: { name, theirs: of(theirs) },
    ...(aim === undefined ? {} : { aim }),
  })
  return [
    row('status', 'status', 'node', 'node -e 0', READ_AIM),
    row('status', 'status', 'list', 'pm2 ls', AHEAD),
    row('status', 'status', 'json', 'pm2 jlist', AHEAD),
    row('status by ./oneshot in a clone', 'launcher', 'node', 'node -e 0', LAUNCHER_AIM),
    row('run', 'run', 'node', 'node -e 0', RUN_AIM),
    row('run', 'run', 'start', 'pm2 start', AHEAD),
    row('run', 'run', 'tmux', 'tmux new-session -d'),
  ]
}

export function emptyNode({ clone }: BenchContext) {
  return { program: process.execPath, args: ['-e', '0'], env: clone.env, cwd: clone.root }
}

function pm2Contenders(pm2: Pm2): Record<string, Contender> {
  const start = ['start', '/bin/true', '--interpreter', 'none', '--no-autorestart', '--name']
  return {
    list: () => timeCommand(pm2.command('ls')),
    json: () => timeCommand(pm2.command('jlist')),
    start: round => timeCommand(pm2.command(...start, `run-${round}`)),
  }
}

/** Restores the state in which each round begins: both run one sleeping program and nothing else. */
async function tidy(round: number, home: BenchHome, pm2: Pm2 | NotMeasured): Promise<void> {
  const started = (await home.sessions()).find(session => session.name === `command-run-${round}`)
  if (started !== undefined) await home.ended(started.id)
  await home.clean()
  if (pm2 instanceof Pm2) pm2.do('delete', `run-${round}`)
}

/** Starts a tmux server in advance, because oneshot's supervisor runs in advance, too. */
function tmuxServer({ clone }: BenchContext) {
  const command = (...words: string[]) => ({
    program: 'tmux',
    args: ['-S', path.join(clone.root, 'tmux.sock'), '-f', '/dev/null', ...words],
    env: clone.env,
    cwd: clone.root,
  })
  timeCommand(command('new-session', '-d', 'sleep 100000'))
  return {
    newSession: () => command('new-session', '-d', 'true'),
    close: async () => void timeCommand(command('kill-server')),
  }
}
