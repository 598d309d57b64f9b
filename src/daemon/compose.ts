import { secretsToKeep } from '../lib/mask/env-secrets.ts'
import path from 'node:path'
import { addressOf } from '../api/config/channel-address.ts'
import { loadChannels } from '../api/config/channels.ts'
import { DEFAULT_RULES } from '../core/rules.ts'
import { Engine } from '../engine/engine.ts'
import type { World } from '../engine/world.ts'
import type { Agent } from '../ports/agent.ts'
import type { Checkpoints } from '../ports/checkpoints.ts'
import type { Store } from '../ports/store.ts'
import { viewOf } from '../views/session-view.ts'
import { projectChecks } from '../world/checks/checks.ts'
import { knownAgents } from '../world/agents/agents.ts'
import { gitCheckpoints } from '../world/git/git-checkpoints.ts'
import { endOrphans, markerFor } from '../world/git/orphans.ts'
import { beadsTracker } from '../world/beads/beads.ts'
import { hooksFor } from '../world/notify/hooks.ts'
import { type Listing, notifierFor } from '../world/notify/notifier.ts'
import { asset, selfArgv } from '../world/os/assets.ts'
import type { Home } from '../world/os/home.ts'
import { Reserve } from '../world/os/reserve.ts'
import { systemClock } from '../world/os/system-clock.ts'
import { openOrRebuild } from '../world/store/open-or-rebuild.ts'
import { installPrograms } from '../world/tmux/install.ts'
import { Panes } from '../world/tmux/panes.ts'
import { findTmux } from '../world/tmux/tmux.ts'
import { TmuxWork } from '../world/tmux/work.ts'
import { Scribe } from './scribe/scribe.ts'
import { witnessFor } from './witness.ts'

/** Stopping a session takes some ten pages of the database, 4 KB each. */
const DATABASE_ROOM = 1_048_576

export interface Composed {
  readonly engine: Engine
  readonly store: Store
  readonly agents: (kind: string) => Agent
  readonly panes: Panes
  readonly work: TmuxWork
  readonly checkpoints: Checkpoints
  /** Ends git processes that an earlier supervisor of this home has left. */
  readonly endOrphans: () => Promise<number>
  readonly scribe: Scribe
  /** Takes the room that is needed on a full disk; false when there is none. */
  readonly keepRoom: () => Promise<boolean>
}

/** Plugs the world into the engine. Nothing else knows which drivers there are. */
export function compose(
  home: Home,
  hooks: Pick<Required<World>, 'onTrouble' | 'onEvent'> & { say: (sentence: string) => void },
): Composed {
  const store = openOrRebuild(home, hooks.say)
  const reserve = new Reserve(home)
  const panes = new Panes(home, () => findTmux(process.env), installPrograms(home))
  const work = new TmuxWork(home, panes)
  const agents = agentsFor(home)
  const environment = (id: string): Readonly<Record<string, string>> => work.environment(id)
  const checkpoints = gitCheckpoints(home, {
    secretsOf: id => secretsToKeep(environment(id)),
    marker: markerFor(home.root),
  })
  const { say, onTrouble } = hooks
  const scribe = new Scribe({ home, store, agents, environment, clock: systemClock, say, onTrouble })
  const engine = new Engine({
    store,
    checkpoints,
    work,
    agents,
    clock: systemClock,
    rules: DEFAULT_RULES,
    notifier: notifierFor(userChannels, { env: process.env, terminals: () => panes.audience() }),
    hooks: hooksFor(home, { environment, document: session => viewOf(session, home) }),
    say,
    onTrouble,
    onEvent: (session, event) => {
      hooks.onEvent(session, event)
      scribe.note(session, event)
    },
    tracker: beadsTracker(home),
    witness: witnessFor(home, { checks: projectChecks(), environment }),
  })
  engine.onChange(session => scribe.follow(session))
  const keepRoom = async (): Promise<boolean> => {
    const hasRoom = await reserve.fill()
    const spare = reserve.share(DATABASE_ROOM)
    if (spare >= DATABASE_ROOM / 16) await store.keepRoom(spare)
    return hasRoom
  }
  return {
    engine,
    store,
    agents,
    panes,
    work,
    checkpoints,
    endOrphans: () => endOrphans(home.root),
    scribe,
    keepRoom,
  }
}

/** As they are configured at this moment: a change counts without a restart. */
async function userChannels(): Promise<Listing[]> {
  const entries = await loadChannels(process.env)
  return entries.map(entry => ({ ...entry, address: () => addressOf(entry, process.env) }))
}

export function agentsFor(home: Home): (kind: string) => Agent {
  return knownAgents({
    demoArgv: [...selfArgv(), '__demo-agent'],
    loopArgv: [...selfArgv(), '__loop'],
    demoThreads: path.join(home.root, 'demo'),
    thin: asset('thin-pi.cjs'),
  })
}
