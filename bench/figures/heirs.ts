import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { attemptFolder } from '../../src/world/os/folders.ts'
import { childrenOf } from '../measure/proc.ts'
import { until } from '../measure/until.ts'
import { ended } from '../peers/ended.ts'
import type { NotMeasured } from '../peers/install.ts'
import { Pm2 } from '../peers/pm2.ts'
import { Runit } from '../peers/runit.ts'
import { S6 } from '../peers/s6.ts'
import { Supervisord } from '../peers/supervisord.ts'
import type { Workshop } from '../workshop.ts'
import { AT_ONCE } from './restarters.ts'

/** A supervisor that is killed while its program talks, and started again as its manual says. */
export interface Heir {
  /** The process that started the program and would start the next. */
  readonly supervisor: () => number | Promise<number>
  readonly startAgain: () => Promise<void>
  /** What was kept of the program's output. */
  readonly log: () => string
  /** Ends all that supervises. */
  readonly close: () => Promise<void>
}

/** How each of them comes to have a program. `argv` is that program, `folder` a place for what it needs. */
export type Opening = (shop: Workshop, argv: readonly string[], folder: string) => Promise<Heir | NotMeasured>

export const OPENINGS: Readonly<Record<string, Opening>> = {
  ours: async (shop, argv) => {
    const house = await shop.house('heir')
    const { id } = await house.start(argv, 'headless', { restart: AT_ONCE })
    const killed = await house.daemon()
    return {
      supervisor: () => killed.pid,
      // Its keeper does it.
      startAgain: async () => {
        await until('a new supervisor answers', async () => {
          const daemon = await house.daemon().catch(() => undefined)
          return daemon !== undefined && daemon.epoch > killed.epoch ? true : undefined
        })
      },
      log: () => fs.readFileSync(attemptFolder(house.home, id, 1).stdout, 'utf8'),
      close: async () => undefined, // The house is closed by whoever opened it.
    }
  },
  'sh loop': async (shop, argv, folder) => {
    const log = path.join(folder, 'log')
    const loops: ChildProcess[] = []
    const start = async (): Promise<void> => {
      const stdio = ['ignore', fs.openSync(log, 'a'), 'ignore'] as const
      const words = ['-c', 'while :; do "$@"; done', 'sh', ...argv]
      loops.push(spawn('sh', words, { env: shop.stage.env, stdio: [...stdio] }))
    }
    await start()
    return {
      supervisor: () => loops[0]?.pid as number,
      startAgain: start,
      log: () => fs.readFileSync(log, 'utf8'),
      close: async () => {
        for (const loop of loops) loop.kill('SIGKILL')
        await Promise.all(loops.map(ended))
      },
    }
  },
  runit: async (shop, argv, folder) => {
    const { runsvdir } = shop.peers
    if (typeof runsvdir !== 'string') return runsvdir
    const log = path.join(folder, 'log')
    const command = `${argv.join(' ')} >>${log}`
    const runit = await Runit.start(runsvdir, shop.stage, { name: 'heir-runit', command, copies: 1 })
    return bringsItBack(runit, log)
  },
  s6: async (shop, argv, folder) => {
    if (typeof shop.peers.s6 !== 'string') return shop.peers.s6
    const log = path.join(folder, 'log')
    const command = `${argv.join(' ')} >>${log}`
    const s6 = await S6.start(shop.peers.s6, shop.stage, { name: 'heir-s6', command })
    return bringsItBack(s6, log)
  },
  pm2: async (shop, argv, folder) => {
    const pm2 = await shop.pm2('heir-pm2')
    if (!(pm2 instanceof Pm2)) return pm2
    const log = path.join(folder, 'log')
    const [script = '', ...args] = argv
    pm2.start([{ name: 'heir', script, args, out_file: log }])
    pm2.do('save')
    const killed = pm2.daemon()
    return {
      supervisor: () => killed,
      startAgain: async () => pm2.do('resurrect'),
      log: () => fs.readFileSync(log, 'utf8'),
      close: () => pm2.close(),
    }
  },
  supervisord: async (shop, argv, folder) => {
    const { supervisord } = shop.peers
    if (typeof supervisord !== 'string') return supervisord
    const log = path.join(folder, 'log')
    const order = { name: 'heir-supervisord', command: argv.join(' '), copies: 1, log }
    const all = [await Supervisord.start(supervisord, shop.stage, order)]
    return {
      supervisor: () => all[0]?.daemon() as number,
      startAgain: async () => void all.push(await Supervisord.start(supervisord, shop.stage, order)),
      log: () => fs.readFileSync(log, 'utf8'),
      close: async () => void (await Promise.all(all.map(each => each.close()))),
    }
  },
}

/** Its own parent does it: within five seconds (runit), or at once (s6). */
function bringsItBack(peer: { keepers: () => number[]; close: () => Promise<void> }, log: string): Heir {
  const [killed = 0] = peer.keepers()
  return {
    supervisor: () => killed,
    startAgain: async () => {
      await until('it is back', () => {
        const others = peer.keepers().filter(pid => pid !== killed)
        return others.length > 0 && childrenOf(...others).length > 0 ? true : undefined
      })
    },
    log: () => fs.readFileSync(log, 'utf8'),
    close: () => peer.close(),
  }
}
