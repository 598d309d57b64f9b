import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { FolderWatch } from '../measure/folder-watch.ts'
import { waitUntil } from '../measure/wait-until.ts'
import { waitForExit } from '../peers/wait-for-exit.ts'
import type { NotMeasured } from '../peers/install.ts'
import { Pm2 } from '../peers/pm2.ts'
import { Runit } from '../peers/runit.ts'
import { S6 } from '../peers/s6.ts'
import { Supervisord } from '../peers/supervisord.ts'
import type { BenchContext } from '../context.ts'

/** A supervisor whose program the benchmark kills; the first act of the next program shows that it noticed. */
export interface RestartContender {
  readonly name: string
  readonly notMeasured?: string
  /** Kills the program. Returns the milliseconds until the next one's first act. */
  readonly kill?: (patience: number) => Promise<number>
}

/** A program whose first act is to create a file named after its pid. */
const PROGRAM = '#!/bin/sh\n: >"$1/$$"\nexec sleep 100000\n'

/** oneshot follows the same rule as the peers: it restarts the program at once after every death. */
export const AT_ONCE = { on: 'failure', limit: 100_000, firstDelay: 0, nextDelay: 0, maxDelay: 0 } as const

/** Opens oneshot, a loop in sh as the minimum, and the peers. */
export async function openRestartContenders(context: BenchContext): Promise<RestartContender[]> {
  const program = path.join(context.clone.root, 'born')
  fs.writeFileSync(program, PROGRAM, { mode: 0o755 })
  const { pm2, runsvdir, s6, supervisord } = context.peers
  const order = (name: string, folder: string) => ({ name, command: `${program} ${folder}`, copies: 1 })
  return [
    await openContender(context, 'ours', async folder => {
      const home = await context.home('restart')
      await home.start([program, folder], 'headless', { supervision: { maxTime: null, restart: AT_ONCE } })
    }),
    await openContender(context, 'sh loop', folder => loop(context, program, folder)),
    await orNot(runsvdir, 'runit', path =>
      openContender(context, 'runit', async folder => {
        context.closeAtEnd(await Runit.start(path, context.clone, order('runit', folder)))
      }),
    ),
    await orNot(s6, 's6', path =>
      openContender(context, 's6', async folder => {
        context.closeAtEnd(await S6.start(path, context.clone, order('s6', folder)))
      }),
    ),
    await orNot(pm2, 'pm2', () =>
      openContender(context, 'pm2', async folder => {
        const own = await context.pm2('pm2-death')
        if (own instanceof Pm2) own.start([{ name: 'born', script: program, args: [folder] }])
      }),
    ),
    await orNot(supervisord, 'supervisord', path =>
      openContender(context, 'supervisord', async folder => {
        context.closeAtEnd(await Supervisord.start(path, context.clone, order('supervisord', folder)))
      }),
    ),
  ]
}

async function orNot(
  peer: string | NotMeasured,
  name: string,
  open: (program: string) => Promise<RestartContender>,
): Promise<RestartContender> {
  return typeof peer === 'string' ? open(peer) : { name, notMeasured: peer.notMeasured }
}

async function openContender(
  context: BenchContext,
  name: string,
  start: (folder: string) => Promise<void>,
): Promise<RestartContender> {
  const folder = path.join(context.clone.root, `born-${name.replace(' ', '-')}`)
  fs.mkdirSync(folder)
  await start(folder)
  await waitUntil(`${name} has started its program`, () => fs.readdirSync(folder)[0])
  const watch = new FolderWatch(folder)
  context.closeAtEnd({ close: async () => watch.close() })
  const kill = async (patience: number): Promise<number> => {
    const born = fs.readdirSync(folder)
    const next = watch.come(new Set(born), patience)
    const killed = performance.now()
    process.kill(Number(born[0]), 'SIGKILL')
    const took = (await next) - killed
    for (const pid of born) fs.rmSync(path.join(folder, pid))
    return took
  }
  return { name, kill }
}

async function loop(context: BenchContext, program: string, folder: string): Promise<void> {
  const child = spawn('sh', ['-c', 'while :; do "$@"; done', 'sh', program, folder], {
    env: context.clone.env,
    stdio: 'ignore',
  })
  context.closeAtEnd({
    close: async () => {
      child.kill('SIGKILL')
      await waitForExit(child)
      for (const pid of fs.readdirSync(folder)) process.kill(Number(pid), 'SIGKILL')
    },
  })
}
