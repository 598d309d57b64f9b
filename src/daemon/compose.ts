import type { SessionId } from '../core/session/session-id-and-name.ts'
import { findEnvSecretsWithBase64 } from '../lib/mask/env-secrets.ts'
import path from 'node:path'
import { resolveChannelAddress } from '../api/config/resolve-channel-address.ts'
import { loadChannels } from '../api/config/channels.ts'
import type { Timings } from '../core/session/supervisor-timings.ts'
import { Engine } from '../engine/engine.ts'
import type { EngineContext } from '../engine/context.ts'
import type { Agent } from '../ports/agent.ts'
import type { Checkpoints } from '../ports/checkpoints.ts'
import type { Store } from '../ports/store.ts'
import { toSessionView } from '../views/session-view.ts'
import { projectChecks } from '../world/checks/detect-check.ts'
import { knownAgents } from '../world/agents/agents.ts'
import { gitCheckpoints } from '../world/git/checkpoint/git-checkpoints.ts'
import { endOrphanProcesses, markerFor } from '../world/git/orphan-processes.ts'
import { beadsTracker } from '../world/tracker/beads-tracker.ts'
import { createHookRunner } from '../world/notify/run-exit-hook.ts'
import { type ConfiguredChannel, createNotifier } from '../world/notify/notifier.ts'
import { installedFile, selfArgv } from '../os/installed-files.ts'
import type { Home } from '../state/home.ts'
import { DiskReserve } from '../state/disk-reserve.ts'
import { systemClock } from '../os/system-clock.ts'
import { openOrRebuild } from '../world/store/rebuild-from-mirror.ts'
import { installPrograms } from '../world/runtime/install-programs.ts'
import { Panes } from '../world/runtime/panes.ts'
import { findTmux } from '../world/runtime/tmux-client.ts'
import { TmuxRuntime } from '../world/runtime/tmux-runtime.ts'
import { ProjectFiles } from './project-files/project-files.ts'
import { createWorkInspector } from './work-inspector.ts'

/** Bytes. To stop a session, the database writes about ten pages of 4 KB each. */
const DATABASE_RESERVE = 1_048_576

export interface DaemonContext {
  readonly engine: Engine
  readonly store: Store
  readonly agents: (kind: string) => Agent
  readonly panes: Panes
  readonly runtime: TmuxRuntime
  readonly checkpoints: Checkpoints
  /** Ends the git processes that an earlier supervisor of this home has left. */
  readonly endOrphans: () => Promise<number>
  readonly projectFiles: ProjectFiles
  /** Reserves the least space that a stop needs on a full disk, before the first session can fill it. */
  readonly reserveFirstSpace: () => void
  /** Reserves the disk space that oneshot needs on a full disk; returns false when there is none. */
  readonly reserveDiskSpace: () => Promise<boolean>
  /** Returns the space of removed sessions to the file system. */
  readonly compactDatabase: () => Promise<void>
}

/** Connects the drivers with the engine. No other file knows which drivers exist. */
export function compose(
  home: Home,
  callbacks: Pick<Required<EngineContext>, 'onTrouble' | 'onSuccess' | 'onEvent'> & { say: (sentence: string) => void },
  timings: Timings,
): DaemonContext {
  const store = openOrRebuild(home, callbacks.say)
  const reserve = new DiskReserve(home)
  const panes = new Panes(home, () => findTmux(process.env), installPrograms(home))
  const runtime = new TmuxRuntime(home, panes)
  const agents = createAgents(home)
  const environment = (id: SessionId): Readonly<Record<string, string>> => runtime.readEnvironment(id)
  const checkpoints = gitCheckpoints(home, {
    secretsOf: id => findEnvSecretsWithBase64(environment(id)),
    marker: markerFor(home.root),
  })
  const { say: log, onTrouble } = callbacks
  const projectFiles = new ProjectFiles({
    home,
    store,
    agents,
    environment,
    clock: systemClock,
    timings,
    log,
    onTrouble,
  })
  const engine = new Engine({
    store,
    checkpoints,
    runtime,
    agents,
    clock: systemClock,
    timings,
    notifier: createNotifier(loadUserChannels, { env: process.env, terminals: () => panes.listAttachedTerminals() }),
    hooks: createHookRunner(home, { environment, document: session => toSessionView(session, home) }),
    log,
    onTrouble,
    onSuccess: callbacks.onSuccess,
    onEvent: (session, event) => {
      callbacks.onEvent(session, event)
      projectFiles.addEvent(session, event)
    },
    tracker: beadsTracker(home),
    workInspector: createWorkInspector(home, { checks: projectChecks(), environment }),
  })
  engine.onChange(session => projectFiles.update(session))
  const reserveDiskSpace = async (): Promise<boolean> => {
    const reservable = reserve.limitToShare(DATABASE_RESERVE)
    if (reservable >= DATABASE_RESERVE / 16) await store.reserveSpace(reservable)
    return await reserve.fill()
  }
  return {
    engine,
    store,
    agents,
    panes,
    runtime,
    checkpoints,
    endOrphans: () => endOrphanProcesses(home.root),
    projectFiles,
    reserveFirstSpace: () => {
      store.reserveFirstSpace()
      reserve.fillFirst()
    },
    reserveDiskSpace,
    compactDatabase: () => store.compact(),
  }
}

/** Reads the channels from the configuration at each call, so that a change takes effect without a restart. */
async function loadUserChannels(): Promise<ConfiguredChannel[]> {
  const entries = await loadChannels(process.env)
  return entries.map(entry => ({ ...entry, address: () => resolveChannelAddress(entry, process.env) }))
}

export function createAgents(home: Home): (kind: string) => Agent {
  return knownAgents({
    demoArgv: [...selfArgv(), '__demo-agent'],
    loopArgv: [...selfArgv(), '__loop'],
    demoThreads: path.join(home.root, 'demo'),
    thin: installedFile('thin-pi.cjs'),
  })
}
