import fs from 'node:fs'
import { showDuration } from '../api/config/key-definition.ts'
import { loadConfig } from '../api/config/load-config.ts'
import { exitCodeOf } from '../api/contract/problems.ts'
import { isSessionId, type SessionId } from '../core/session/session-id-and-name.ts'
import { Refusal } from '../lib/errors.ts'
import { stripControls, toOneLine } from '../lib/text/strip-terminal-controls.ts'
import { formatIso } from '../lib/time.ts'
import { errorMessage } from '../lib/errors.ts'
import { KeyedMutex } from '../lib/keyed-mutex.ts'
import { VERSION } from '../lib/version.ts'
import { Mask } from '../lib/mask/mask.ts'
import { TroubleCounter, type TroubleRecords } from '../engine/background/trouble-counter.ts'
import { readTroubleFile, removeTroubleFile, writeTroubleFile } from '../state/repeated-trouble-file.ts'
import { systemClock } from '../os/system-clock.ts'
import type { Event } from '../core/session/events.ts'
import type { Session } from '../core/session/session-state.ts'
import { Superseded } from '../ports/store.ts'
import { sessionMask } from '../views/final-output.ts'
import { removeEmptyCgroups } from '../os/cgroup.ts'
import { type Keeper, nameKeeper, identifyKeeper, replaceKeeper, writeWakeScript } from '../state/keeper.ts'
import { type Home, locateHome, openHome } from '../state/home.ts'
import { checkLiveness } from '../os/process/processes.ts'
import { compose } from './compose.ts'
import { DiskMonitor } from '../state/disk-reserve.ts'
import { EventLog } from './log-session-events.ts'
import { removeExpired, settleEnded } from './housekeeping.ts'
import { showProgress } from './detect-stuck-lock-holder.ts'
import type { RouteContext } from './routes/route.ts'
import { readHoldOnStart } from './hold-on-start.ts'
import { removeSession } from './routes/sessions.ts'
import { startServer } from './server.ts'
import { acquireLock } from './acquire-lock.ts'
import { readTimings } from './read-timings.ts'

/**
 * Milliseconds. Finds changes without a notification, such as shims killed under a live agent. A check of 200 sessions
 * takes 3 ms.
 */
const PERIODIC_CHECK_EVERY = 30_000
/**
 * Milliseconds. Each check reads the free space and /proc once, 10 µs each, and a few files for each terminal. It
 * restores lost panes and recorders before anybody misses them.
 */
const CHECK_HEALTH_EVERY = 1_000
/** Milliseconds. Leftover control groups cost nothing but their names. */
const REMOVE_CGROUPS_EVERY = 600_000
/**
 * Milliseconds. A git process of a killed supervisor may be in the middle of a large checkout; a process that runs
 * longer is stuck.
 */
const END_ORPHANS_AFTER = 120_000
/** Milliseconds. The first session starts before the daemon fills the whole reserve. */
const FIRST_DISK_CHECK_AFTER = 1_000
const MAX_LOG_SIZE = 5 * 1_048_576

/** The keeper does not restart the daemon after these exit codes. */
const EXIT_STOPPED = 0
const EXIT_SUPERSEDED = 7
/** The keeper restarts the daemon at once: a signal ended it. */
const EXIT_RESTART = 1

/**
 * Runs the supervisor of one home until a request stops it. A kill at any moment does no harm, because each start is a
 * recovery.
 */
export async function daemon(): Promise<void> {
  process.umask(0o077)
  delete process.env['MALLOC_ARENA_MAX'] // keeper.sh sets it for the supervisor alone.
  const home = locateHome(process.env)
  try {
    openHome(home)
    rotateLog(home)
    await runDaemon(home)
  } catch (cause) {
    writeLog(errorMessage(cause))
    process.exit(cause instanceof Refusal ? exitCodeOf(cause.code) : EXIT_RESTART)
  }
}

async function runDaemon(home: Home): Promise<void> {
  let keeper: Keeper | undefined = identifyKeeper()
  const timings = readTimings(process.env, home)
  const lock = await acquireLock(home, timings.lockPatience)
  const starting = setInterval(() => showProgress(home), CHECK_HEALTH_EVERY)
  const startedAt = formatIso(Date.now())
  const eventLog = new EventLog({ maskOf: id => maskForLog(home, id), log: writeLog })
  const troubles = new TroubleCounter(systemClock, troubleRecords(home))
  const callbacks = {
    say: writeLog,
    onTrouble: retryLater,
    onSuccess: (id: SessionId) => troubles.clear(id),
    onEvent: (session: Session, event: Event) => eventLog.write(session, event),
  }
  const { engine, store, agents, panes, runtime, checkpoints, projectFiles, ...upkeep } = compose(
    home,
    callbacks,
    timings,
  )
  const diskMonitor = new DiskMonitor(writeLog, upkeep.reserveDiskSpace)
  function retryLater(subject: string, cause: unknown, doing?: string): void {
    if (!diskMonitor.reportIfFull(cause)) {
      reportError(subject, cause)
      // On a full disk, the records of the sessions need the last space more than a count.
      if (doing !== undefined && isSessionId(subject)) troubles.addFailure(subject, doing, cause)
    }
    if (isSessionId(subject)) setTimeout(() => void engine.observe(subject), timings.troublePause)
  }
  const stop = (code: number): void => {
    void engine.shutDown().then(async () => {
      await projectFiles.close()
      server.close()
      store.close()
      if (code === EXIT_STOPPED) nameKeeper(home, undefined)
      lock.release()
      writeLog('stopped')
      process.exit(code)
    })
  }
  const routeContext: RouteContext = {
    home,
    store,
    engine,
    projectFiles,
    agents,
    checkpoints,
    startMutex: new KeyedMutex(),
    assertReady: () => panes.assertReady(),
    describe: () => {
      const { epoch } = store
      return { pid: process.pid, epoch, version: VERSION, startedAt, home: home.root, sessions: store.count() }
    },
    log: writeLog,
    stop: () => {
      fs.writeFileSync(home.downMarker, '', { mode: 0o600 })
      stop(EXIT_STOPPED)
    },
  }
  nameKeeper(home, keeper)
  upkeep.reserveFirstSpace()
  const server = await startServer(routeContext)
  const isReachable = socketWatch(home)
  clearInterval(starting)
  setInterval(() => {
    if (isReachable()) showProgress(home)
  }, CHECK_HEALTH_EVERY)
  writeWakeScript(home)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(EXIT_RESTART))
  process.on('SIGHUP', () => undefined)
  const live = store.live().map(session => session.spec.id)
  writeLog(`epoch ${store.epoch}, pid ${process.pid}, version ${VERSION}: supervising ${live.length} sessions`)
  troubles.load(live)
  troubles.load(store.pendingEffects().map(item => item.sessionId)) // An ended session may have effects left.
  const mode = readHoldOnStart(home, process.env)
  await engine.start({ isHeld: mode.isOn })
  mode.finish()
  void projectFiles.start().catch(cause => reportError('.agent', cause))
  setTimeout(() => void upkeep.endOrphans().catch(cause => reportError('git', cause)), END_ORPHANS_AFTER)
  removeEmptyCgroups(Date.now())
  setInterval(() => {
    removeEmptyCgroups(Date.now())
    void removeOldSessions()
      .then(() => upkeep.compactDatabase())
      .catch(cause => reportError('', cause))
  }, REMOVE_CGROUPS_EVERY)
  /** Reads the configuration each time, so that a change takes effect without a restart. */
  async function removeOldSessions(): Promise<void> {
    const config = await loadConfig({ env: process.env, cwd: home.root, overrides: [], withoutProject: true })
    const keepEnded = config['keep-ended'].value
    const remove = (id: SessionId): Promise<boolean> => removeSession(routeContext, id)
    const removed = await removeExpired({ store, clock: systemClock, keepEnded, remove })
    if (removed > 0) writeLog(`${removed} sessions were removed: keep-ended is ${showDuration(keepEnded ?? 0)}`)
  }
  const hasOpenWork = [
    (session: Session) => engine.services.hasOpenWork(session),
    (session: Session) => projectFiles.isUnwritten(session),
  ]
  const checkDisk = (): void => void diskMonitor.check().catch(cause => reportError('disk', cause))
  setTimeout(checkDisk, FIRST_DISK_CHECK_AFTER)
  setInterval(() => {
    rotateLog(home)
    checkDisk()
    void engine.runPeriodicCheck()
    void settleEnded({ store, clock: systemClock, hasOpenWork }).catch(cause => reportError('', cause))
  }, PERIODIC_CHECK_EVERY)
  setInterval(() => {
    engine.checkOutput()
    if (runtime.needsRepair()) void engine.repair().catch(cause => reportError('tmux', cause))
    checkKeeper()
  }, CHECK_HEALTH_EVERY)
  /** Restarts a dead keeper. A supervisor that another one has replaced must not start a keeper, nor record its own. */
  function checkKeeper(): void {
    try {
      store.assertEpoch()
    } catch (cause) {
      return reportError('', cause)
    }
    if (keeper !== undefined && process.ppid !== keeper.pid && checkLiveness(keeper) === 'dead') {
      writeLog('the keeper died; the supervisor started a new one')
      keeper = replaceKeeper(home)
    }
    nameKeeper(home, keeper)
  }
}

/**
 * Returns a function that checks that the daemon's socket still exists. Without it, no client reaches this supervisor,
 * and a newcomer must replace it.
 */
function socketWatch({ daemonSocket }: Home): () => boolean {
  const inode = (): number | undefined => fs.statSync(daemonSocket, { throwIfNoEntry: false })?.ino
  const made = inode()
  return () => inode() === made
}

/**
 * Returns the mask for the supervisor's own texts about a session. A damaged environment must not stop the supervisor:
 * then the mask recognises secrets of a known form only, and the next launch reports the file.
 */
function maskForLog(home: Home, id: SessionId): Mask {
  try {
    return sessionMask(home, id)
  } catch {
    return new Mask([])
  }
}

/** Records trouble in the session's folder, without secrets: people paste the output of `status` into reports. */
function troubleRecords(home: Home): TroubleRecords {
  return {
    read: id => readTroubleFile(home, id),
    write: (id, trouble) => {
      const mask = maskForLog(home, id)
      const [doing, reason] = [trouble.doing, trouble.reason].map(text => mask.maskText(toOneLine(text))) as [
        string,
        string,
      ]
      writeTroubleFile(home, id, { ...trouble, doing, reason })
    },
    remove: id => removeTroubleFile(home, id),
  }
}

function reportError(subject: string, cause: unknown): void {
  writeLog(`${subject} ${cause instanceof Error && process.env['ONESHOT_DEBUG'] ? cause.stack : errorMessage(cause)}`)
  if (cause instanceof Superseded) process.exit(EXIT_SUPERSEDED)
}

function writeLog(line: string): void {
  try {
    fs.writeSync(1, `${formatIso(Date.now())} ${stripControls(line.trim(), { colour: false })}\n`)
  } catch {
    // On a full disk, the log can wait, the sessions cannot.
  }
}

/** Copies and truncates a large log instead of moving it, because the keeper has it open for appending. */
function rotateLog(home: Home): void {
  const size = fs.statSync(home.daemonLog, { throwIfNoEntry: false })?.size ?? 0
  if (size <= MAX_LOG_SIZE) return
  try {
    fs.copyFileSync(home.daemonLog, `${home.daemonLog}.1`)
  } catch {
    // On a full disk, the newest lines are worth more than the oldest.
  }
  fs.truncateSync(home.daemonLog)
}
