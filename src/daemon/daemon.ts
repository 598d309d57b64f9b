import fs from 'node:fs'
import { exitCodeOf } from '../api/contract/problems.ts'
import { Refusal } from '../lib/refusal.ts'
import { harmless } from '../lib/terminal-text.ts'
import { iso } from '../lib/time.ts'
import { wordsOf } from '../lib/trouble.ts'
import { Turnstile } from '../lib/turnstile.ts'
import { VERSION } from '../lib/version.ts'
import { Superseded } from '../ports/store.ts'
import { environmentOf } from '../views/last-words.ts'
import { removeEmptyGroups } from '../world/os/control-group.ts'
import { type Keeper, nameKeeper, ownKeeper, replaceKeeper, writeWakeScript } from '../world/os/keeper.ts'
import { type Home, locateHome, openHome } from '../world/os/home.ts'
import { lives } from '../world/os/processes.ts'
import { compose } from './compose.ts'
import { DiskWatch } from './disk-watch.ts'
import { EventLog } from './event-log.ts'
import { showProgress } from './holder-watch.ts'
import type { Host } from './routes.ts'
import { safeMode } from './safe-mode.ts'
import { serve } from './server.ts'
import { takeCharge } from './take-charge.ts'

/** For what nobody rings: shims killed under a living agent. 200 sessions take 3 ms to look at. */
const RECONCILE_EVERY = 30_000
/** Free space, and one read of /proc, 10 µs each, and a few for each terminal: what died beside the work is given back before it is missed. */
const LOOK_AROUND_EVERY = 1_000
/** After trouble with a session, such as a full disk, we look at it again. */
const TRY_AGAIN_AFTER = 5_000
/** Control groups that nobody lived to give back cost nothing but their names. */
const TIDY_EVERY = 600_000
/** A git process of a supervisor that was killed may be in the middle of a large checkout. One that lasts longer waits for nothing. */
const ORPHANS_MAY_LAST = 120_000
/** The first session comes before the reserve for a full disk. */
const FIRST_RESERVE = 1_000
const LARGEST_LOG = 5 * 1_048_576

/** Exit codes the keeper understands: do not bring me back. */
const STOPPED = 0
const SUPERSEDED = 7
/** Ended by a signal: the keeper brings us back at once. */
const RETURNING = 1

/** The supervisor of one home, until it is told to stop. Being killed at any moment is fine: starting is recovering. */
export async function daemon(): Promise<void> {
  process.umask(0o077)
  const home = locateHome(process.env)
  try {
    openHome(home)
    rotateLog(home)
    await host(home)
  } catch (cause) {
    say(wordsOf(cause))
    process.exit(cause instanceof Refusal ? exitCodeOf(cause.code) : RETURNING)
  }
}

async function host(home: Home): Promise<void> {
  let keeper: Keeper | undefined = ownKeeper()
  const lock = await takeCharge(home)
  const starting = setInterval(() => showProgress(home), LOOK_AROUND_EVERY)
  const startedAt = iso(Date.now())
  const log = new EventLog({ environmentOf: id => environmentOf(home, id), say })
  const { engine, store, agents, panes, work, checkpoints, endOrphans, scribe, keepRoom } = compose(home, {
    say,
    onTrouble: tryAgainLater,
    onEvent: (session, event) => log.tell(session, event),
  })
  const disk = new DiskWatch(say, keepRoom)
  function tryAgainLater(id: string, cause: unknown): void {
    if (!disk.isWhy(cause)) onTrouble(id, cause)
    setTimeout(() => void engine.look(id), TRY_AGAIN_AFTER)
  }
  const stop = (code: number): void => {
    void engine.shutDown().then(async () => {
      await scribe.close()
      server.close()
      store.close()
      if (code === STOPPED) nameKeeper(home, undefined)
      lock.release()
      say('stopped')
      process.exit(code)
    })
  }
  const served: Host = {
    home,
    store,
    engine,
    scribe,
    agents,
    checkpoints,
    admission: new Turnstile(),
    assertReady: () => panes.assertReady(),
    about: () => {
      const all = store.all()
      const live = all.filter(session => session.phase.name !== 'ended').length
      const sessions = { live, ended: all.length - live }
      return { pid: process.pid, epoch: store.epoch, version: VERSION, startedAt, home: home.root, sessions }
    },
    say,
    stop: () => {
      fs.writeFileSync(home.downMarker, '', { mode: 0o600 })
      stop(STOPPED)
    },
  }
  nameKeeper(home, keeper)
  const server = await serve(served)
  const isReachable = socketWatch(home)
  clearInterval(starting)
  setInterval(() => {
    if (isReachable()) showProgress(home)
  }, LOOK_AROUND_EVERY)
  writeWakeScript(home)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(RETURNING))
  process.on('SIGHUP', () => undefined)
  say(`epoch ${store.epoch}, pid ${process.pid}, version ${VERSION}: supervising ${store.live().length} sessions`)
  const safety = safeMode(home, process.env)
  await engine.start({ isHeld: safety.isOn })
  safety.over()
  void scribe.start().catch(cause => onTrouble('.agent', cause))
  setTimeout(() => void endOrphans().catch(cause => onTrouble('git', cause)), ORPHANS_MAY_LAST)
  removeEmptyGroups(Date.now())
  setInterval(() => removeEmptyGroups(Date.now()), TIDY_EVERY)
  const lookAtDisk = (): void => void disk.look().catch(cause => onTrouble('disk', cause))
  setTimeout(lookAtDisk, FIRST_RESERVE)
  setInterval(() => {
    rotateLog(home)
    lookAtDisk()
    void engine.reconcile()
  }, RECONCILE_EVERY)
  setInterval(() => {
    engine.watchOutput()
    if (work.isToMend()) void engine.mend().catch(cause => onTrouble('tmux', cause))
    lookAfterKeeper()
  }, LOOK_AROUND_EVERY)
  /** A supervisor that another one has replaced must not start a keeper, nor name its own. */
  function lookAfterKeeper(): void {
    try {
      store.assertEpoch()
    } catch (cause) {
      return onTrouble('', cause)
    }
    if (keeper !== undefined && process.ppid !== keeper.pid && lives(keeper) === 'dead') {
      say('the keeper died; the supervisor started a new one')
      keeper = replaceKeeper(home)
    }
    nameKeeper(home, keeper)
  }
}

/** Tells whether the socket that was just made is still there: without it nobody reaches this supervisor, who must be replaced. */
function socketWatch({ daemonSocket }: Home): () => boolean {
  const inode = (): number | undefined => fs.statSync(daemonSocket, { throwIfNoEntry: false })?.ino
  const made = inode()
  return () => inode() === made
}

function onTrouble(sessionId: string, cause: unknown): void {
  say(`${sessionId} ${cause instanceof Error && process.env['ONESHOT_DEBUG'] ? cause.stack : wordsOf(cause)}`)
  if (cause instanceof Superseded) process.exit(SUPERSEDED)
}

function say(sentence: string): void {
  try {
    fs.writeSync(1, `${iso(Date.now())} ${harmless(sentence.trim(), { colour: false })}\n`)
  } catch {
    // A full disk: the log can wait, the sessions cannot.
  }
}

/** The keeper has it open for appending: a log that has grown large is copied and emptied, not moved. */
function rotateLog(home: Home): void {
  const size = fs.statSync(home.daemonLog, { throwIfNoEntry: false })?.size ?? 0
  if (size <= LARGEST_LOG) return
  try {
    fs.copyFileSync(home.daemonLog, `${home.daemonLog}.1`)
  } catch {
    // A full disk: the newest lines are worth more than the oldest.
  }
  fs.truncateSync(home.daemonLog)
}
