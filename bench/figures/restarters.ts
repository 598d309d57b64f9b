import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { FolderWatch } from '../measure/folder-watch.ts'
import { until } from '../measure/until.ts'
import { ended } from '../peers/ended.ts'
import type { NotMeasured } from '../peers/install.ts'
import { Pm2 } from '../peers/pm2.ts'
import { Runit } from '../peers/runit.ts'
import { S6 } from '../peers/s6.ts'
import { Supervisord } from '../peers/supervisord.ts'
import type { Workshop } from '../workshop.ts'

/** A supervisor whose program is killed; it has noticed when the next one acts. */
export interface Restarter {
  readonly name: string
  readonly notMeasured?: string
  /** Kills the program; answers the milliseconds until the next one's first act. */
  readonly kill?: (patience: number) => Promise<number>
}

/** Its first act is a file named after its pid. */
const PROGRAM = '#!/bin/sh\n: >"$1/$$"\nexec sleep 100000\n'

/** Ours goes by the same rule as the peers: whenever it dies, another one at once. */
export const AT_ONCE = { on: 'failure', limit: 100_000, firstDelay: 0, nextDelay: 0, maxDelay: 0 } as const

/** Ours, a loop in sh, which is as little as can be, and the peers. */
export async function openRestarters(shop: Workshop): Promise<Restarter[]> {
  const program = path.join(shop.stage.root, 'born')
  fs.writeFileSync(program, PROGRAM, { mode: 0o755 })
  const { pm2, runsvdir, s6, supervisord } = shop.peers
  const order = (name: string, folder: string) => ({ name, command: `${program} ${folder}`, copies: 1 })
  return [
    await restarter(shop, 'ours', async folder => {
      const house = await shop.house('restart')
      await house.start([program, folder], 'headless', { restart: AT_ONCE })
    }),
    await restarter(shop, 'sh loop', folder => loop(shop, program, folder)),
    await orNot(runsvdir, 'runit', path =>
      restarter(shop, 'runit', async folder => {
        shop.keep(await Runit.start(path, shop.stage, order('runit', folder)))
      }),
    ),
    await orNot(s6, 's6', path =>
      restarter(shop, 's6', async folder => {
        shop.keep(await S6.start(path, shop.stage, order('s6', folder)))
      }),
    ),
    await orNot(pm2, 'pm2', () =>
      restarter(shop, 'pm2', async folder => {
        const own = await shop.pm2('pm2-death')
        if (own instanceof Pm2) own.start([{ name: 'born', script: program, args: [folder] }])
      }),
    ),
    await orNot(supervisord, 'supervisord', path =>
      restarter(shop, 'supervisord', async folder => {
        shop.keep(await Supervisord.start(path, shop.stage, order('supervisord', folder)))
      }),
    ),
  ]
}

async function orNot(
  peer: string | NotMeasured,
  name: string,
  open: (program: string) => Promise<Restarter>,
): Promise<Restarter> {
  return typeof peer === 'string' ? open(peer) : { name, notMeasured: peer.notMeasured }
}

async function restarter(shop: Workshop, name: string, start: (folder: string) => Promise<void>): Promise<Restarter> {
  const folder = path.join(shop.stage.root, `born-${name.replace(' ', '-')}`)
  fs.mkdirSync(folder)
  await start(folder)
  await until(`${name} has started its program`, () => fs.readdirSync(folder)[0])
  const watch = new FolderWatch(folder)
  shop.keep({ close: async () => watch.close() })
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

async function loop(shop: Workshop, program: string, folder: string): Promise<void> {
  const child = spawn('sh', ['-c', 'while :; do "$@"; done', 'sh', program, folder], {
    env: shop.stage.env,
    stdio: 'ignore',
  })
  shop.keep({
    close: async () => {
      child.kill('SIGKILL')
      await ended(child)
      for (const pid of fs.readdirSync(folder)) process.kill(Number(pid), 'SIGKILL')
    },
  })
}
