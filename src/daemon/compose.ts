import path from 'node:path'
import { DEFAULT_RULES } from '../core/rules.ts'
import { Engine } from '../engine/engine.ts'
import type { World } from '../engine/world.ts'
import type { Agent } from '../ports/agent.ts'
import type { Store } from '../ports/store.ts'
import { knownAgents } from '../world/agents/agents.ts'
import { asset, selfArgv } from '../world/os/assets.ts'
import type { Home } from '../world/os/home.ts'
import { systemClock } from '../world/os/system-clock.ts'
import { openOrRebuild } from '../world/store/open-or-rebuild.ts'
import { installPrograms } from '../world/tmux/install.ts'
import { Panes } from '../world/tmux/panes.ts'
import { findTmux } from '../world/tmux/tmux.ts'
import { TmuxWork } from '../world/tmux/work.ts'

export interface Composed {
  readonly engine: Engine
  readonly store: Store
  readonly agents: (kind: string) => Agent
  readonly panes: Panes
  readonly work: TmuxWork
}

/** Plugs the world into the engine. Nothing else knows which drivers there are. */
export function compose(
  home: Home,
  hooks: Pick<Required<World>, 'onTrouble' | 'onEvent'> & { say: (sentence: string) => void },
): Composed {
  const store = openOrRebuild(home, hooks.say)
  const panes = new Panes(home, () => findTmux(process.env), installPrograms(home))
  const work = new TmuxWork(home, panes)
  const agents = agentsFor(home)
  const engine = new Engine({
    store,
    work,
    agents,
    clock: systemClock,
    rules: DEFAULT_RULES,
    onTrouble: hooks.onTrouble,
    onEvent: hooks.onEvent,
  })
  return { engine, store, agents, panes, work }
}

export function agentsFor(home: Home): (kind: string) => Agent {
  return knownAgents({
    demoArgv: [...selfArgv(), '__demo-agent'],
    demoThreads: path.join(home.root, 'demo'),
    thin: asset('thin-pi.cjs'),
  })
}
