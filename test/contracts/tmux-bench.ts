import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Mode } from '../../src/core/session.ts'
import type { LaunchOrder } from '../../src/ports/work.ts'
import { processesOf } from '../../src/testkit/real/process-list.ts'
import { type TempHome, tempHome } from '../../src/testkit/real/temp-home.ts'
import { until } from '../../src/testkit/real/until.ts'
import { makeGroup, removeGroup } from '../../src/world/os/control-group.ts'
import { attemptId } from '../../src/world/os/folders.ts'
import type { Home } from '../../src/world/os/home.ts'
import { installPrograms } from '../../src/world/tmux/install.ts'
import { Panes } from '../../src/world/tmux/panes.ts'
import { findTmux } from '../../src/world/tmux/tmux.ts'
import { TmuxWork } from '../../src/world/tmux/work.ts'
import { PLAIN_ORDER } from './plain-order.ts'
import type { WorkBench } from './work-bench.ts'

export interface TmuxBench extends WorkBench {
  readonly work: TmuxWork
  readonly home: Home
  readonly panes: Panes
  /** A session's id and name, with nothing prepared. */
  reserve(): LaunchOrder
  /** A session that was prepared with this environment, and the order to launch this argv. */
  run(argv: readonly string[], wishes?: Wishes): Promise<LaunchOrder>
}

export type Wishes = Partial<LaunchOrder> & { prompt?: Uint8Array; saved?: Readonly<Record<string, string>> }

/** A real home with real tmux servers. Whatever is launched in it is ended when it is closed, and nothing may be left. */
export function openTmuxBench(mode: Mode, name = ''): TmuxBench {
  const temp: TempHome = tempHome(name)
  const { home } = temp
  const panes = new Panes(home, () => findTmux(process.env), installPrograms(home))
  const works = [new TmuxWork(home, panes)]
  const work = works[0] as TmuxWork
  const orders: LaunchOrder[] = []
  const reserve = (wishes: Partial<LaunchOrder> = {}): LaunchOrder => {
    const number = orders.length + 1
    const order: LaunchOrder = {
      // Markers are looked for on the whole machine, where other homes are at work.
      sessionId: crypto.randomBytes(5).toString('hex'),
      name: `twin-${number}`,
      mode,
      argv: [],
      cwd: path.join(home.root, `cwd${number}`),
      ...PLAIN_ORDER,
      ...wishes,
    }
    orders.push(order)
    return order
  }
  const run = async (argv: readonly string[], { prompt, saved, ...wishes }: Wishes = {}): Promise<LaunchOrder> => {
    const order = reserve({ argv, ...wishes })
    if (wishes.cwd === undefined) fs.mkdirSync(order.cwd)
    const env = saved ?? { PATH: process.env['PATH'] ?? '' }
    await work.prepare(order.sessionId, { prompt: prompt ?? null, env })
    return order
  }
  return {
    work,
    home,
    panes,
    reserve,
    run,
    another: () => {
      const other = new TmuxWork(home, panes)
      works.push(other)
      return other
    },
    order: ({ sh }, wishes) => run(['/bin/sh', '-c', sh], wishes),
    until,
    hasGroups: mayMakeGroups(),
    alive: ref => processesOf(`ONESHOT_ATTEMPT=${attemptId(ref.sessionId, ref.attempt)}`).length,
    close: async () => {
      for (const each of works) each.shutDown()
      for (const order of orders) {
        const attempts = path.join(home.sessions, order.sessionId, 'attempts')
        for (const attempt of fs.existsSync(attempts) ? fs.readdirSync(attempts) : []) {
          await work.sweep({ ...order, attempt: Number(attempt) }, { force: true })
        }
        await work.close(order)
      }
      await temp.noLeaks()
    },
  }
}

export function mayMakeGroups(): boolean {
  const group = makeGroup(`try-${crypto.randomBytes(5).toString('hex')}`)
  if (group !== null) removeGroup(group)
  return group !== null
}
