import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { childrenOf } from '../measure/proc.ts'
import { waitUntil } from '../measure/wait-until.ts'
import { waitForExit } from '../peers/wait-for-exit.ts'
import type { NotMeasured } from '../peers/install.ts'
import { Pm2 } from '../peers/pm2.ts'
import { Runit } from '../peers/runit.ts'
import { S6 } from '../peers/s6.ts'
import { Supervisord } from '../peers/supervisord.ts'
import type { BenchContext } from '../context.ts'
import { AT_ONCE } from './restart-contenders.ts'

/** A supervisor that the benchmark kills while its program writes, and restarts according to its manual. */
export interface KilledSupervisor {
  /** Returns the process that started the program and would start the next. */
  readonly supervisor: () => number | Promise<number>
  readonly startAgain: () => Promise<void>
  /** Returns the recorded output of the program. */
  readonly log: () => string
  /** Ends all supervising processes. */
  readonly close: () => Promise<void>
}

/** Starts a program under a supervisor. `argv` is the program, `folder` holds its files. */
export type OpenContender = (
  context: BenchContext,
  argv: readonly string[],
  folder: string,
) => Promise<KilledSupervisor | NotMeasured>

export const CONTENDERS: Readonly<Record<string, OpenContender>> = {
  ours: async (context, argv) => {
    const home = await context.home('heir')
    const { id } = await home.start(argv, 'headless', { supervision: { maxTime: null, restart: AT_ONCE } })
    const killed = await home.daemon()
    return {
      supervisor: () => killed.pid,
      // The keeper restarts the supervisor.
      startAgain: async () => {
        await waitUntil('a new supervisor answers', async () => {
          const daemon = await home.daemon().catch(() => undefined)
          return daemon !== undefined && daemon.epoch > killed.epoch ? true : undefined
        })
      },
      log: () => fs.readFileSync(attemptFolder(home.home, id, 1).stdout, 'utf8'),
      close: async () => undefined, // The context closes the home.
    }
  },
  'sh loop': async (context, argv, folder) => {
    const log = path.join(folder, 'log')
    const loops: ChildProcess[] = []
    const start = async (): Promise<void> => {
      const stdio = ['ignore', fs.openSync(log, 'a'), 'ignore'] as const
      const words = ['-c', 'while :; do "$@"; done', 'sh', ...argv]
      loops.push(spawn('sh', words, { env: context.clone.env, stdio: [...stdio] }))
    }
    await start()
    return {
      supervisor: () => loops[0]?.pid as number,
      startAgain: start,
      log: () => fs.readFileSync(log, 'utf8'),
      close: async () => {
        for (const loop of loops) loop.kill('SIGKILL')
        await Promise.all(loops.map(waitForExit))
      },
    }
  },
  runit: async (context, argv, folder) => {
    const { runsvdir } = context.peers
    if (typeof runsvdir !== 'string') return runsvdir
    const log = path.join(folder, 'log')
    const command = `${argv.join(' ')} >>${log}`
    const runit = await Runit.start(runsvdir, context.clone, { name: 'heir-runit', command, copies: 1 })
    return restartedByParent(runit, log)
  },
  s6: async (context, argv, folder) => {
    if (typeof context.peers.s6 !== 'string') return context.peers.s6
    const log = path.join(folder, 'log')
    const command = `${argv.join(' ')} >>${log}`
    const s6 = await S6.start(context.peers.s6, context.clone, { name: 'heir-s6', command })
    return restartedByParent(s6, log)
  },
  pm2: async (context, argv, folder) => {
    const pm2 = await context.pm2('heir-pm2')
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
  supervisord: async (context, argv, folder) => {
    const { supervisord } = context.peers
    if (typeof supervisord !== 'string') return supervisord
    const log = path.join(folder, 'log')
    const order = { name: 'heir-supervisord', command: argv.join(' '), copies: 1, log }
    const all = [await Supervisord.start(supervisord, context.clone, order)]
    return {
      supervisor: () => all[0]?.daemon() as number,
      startAgain: async () => void all.push(await Supervisord.start(supervisord, context.clone, order)),
      log: () => fs.readFileSync(log, 'utf8'),
      close: async () => void (await Promise.all(all.map(each => each.close()))),
    }
  },
}

/** The parent of the supervisor restarts it: within five seconds (runit), or at once (s6). */
function restartedByParent(
  peer: { keepers: () => number[]; close: () => Promise<void> },
  log: string,
): KilledSupervisor {
  const [killed = 0] = peer.keepers()
  return {
    supervisor: () => killed,
    startAgain: async () => {
      await waitUntil('it is back', () => {
        const others = peer.keepers().filter(pid => pid !== killed)
        return others.length > 0 && childrenOf(...others).length > 0 ? true : undefined
      })
    },
    log: () => fs.readFileSync(log, 'utf8'),
    close: () => peer.close(),
  }
}
