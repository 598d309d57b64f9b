import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ProductClone } from '../../../bench/product/clone.ts'
import type { SessionView } from '../../../src/api/contract/responses.ts'
import type { SessionId } from '../../../src/core/session/session-id-and-name.ts'
import { readWorkers } from '../../../src/views/session-search.ts'
import { readSession } from '../../../src/views/read-session.ts'
import { between, type RandomSource, seededRandom, pick } from '../../../testkit/system/seeded-random.ts'
import { checkEnd, checkLeft } from './check-round.ts'
import { LoopEnvironment } from './loop-environment.ts'

/** Milliseconds between two kills. */
const SHORTEST_PAUSE = 50
const LONGEST_PAUSE = 900
/** oneshot gives up on an agent that dies more often, as it should. */
const MOST_KILLS_OF_ONE = 2
/** Milliseconds; long compared with every delay before a restart. */
const PATIENCE = 180_000

export interface Round {
  readonly seed: number
  readonly kind: 'serial' | 'parallel'
  readonly tasks: number
  readonly kills: Readonly<Record<Victim, number>>
  readonly seconds: number
  readonly findings: readonly string[]
  readonly folder: string
}

const VICTIMS = ['supervisor', 'keeper', 'both', 'loop', 'worker', 'stop'] as const
export type Victim = (typeof VICTIMS)[number]

/**
 * Runs one loop from start to end with kills at random moments, and returns the findings. All choices follow from the
 * seed.
 */
export async function runRound(clone: ProductClone, seed: number): Promise<Round> {
  const begun = performance.now()
  const random = seededRandom(seed, 'loop')
  const kind = random() < 0.5 ? 'serial' : 'parallel'
  const files = Array.from({ length: 4 + Math.floor(random() * 3) }, (_, n) => `f${n}.txt`)
  const environment = new LoopEnvironment(clone, `round-${seed}`)
  await environment.prepare(files)
  const width = kind === 'parallel' ? ['--parallel', String(2 + Math.floor(random() * 2))] : []
  const options = ['--config', 'restart-delay=200ms', '--config', 'restart-max-delay=1s']
  const started = await environment.oneshot('ralph', '--json', '--agent', 'codex', ...options, ...width)
  if (started.code !== 0) throw new Error(`the loop did not start: ${started.stderr}`)
  const { id } = JSON.parse(started.stdout) as SessionView
  const kills = await killAtRandom(environment, id, random)
  const loop = await untilEnded(environment, id)
  const findings = await checkEnd(environment, loop, files, kind)
  await environment.oneshot('killall', '--yes')
  await environment.oneshot('daemon', 'stop')
  findings.push(...(await checkLeft(environment)))
  const seconds = (performance.now() - begun) / 1000
  return { seed, kind, tasks: files.length, kills, seconds, findings, folder: environment.root }
}

async function killAtRandom(
  environment: LoopEnvironment,
  id: SessionId,
  random: RandomSource,
): Promise<Record<Victim, number>> {
  const kills = Object.fromEntries(VICTIMS.map(victim => [victim, 0])) as Record<Victim, number>
  const struck = new Map<string, number>()
  const wanted = 6 + Math.floor(random() * 9)
  for (let n = 0; n < wanted; n++) {
    await pause(between(random, SHORTEST_PAUSE, LONGEST_PAUSE))
    const victim = pick(VICTIMS, random()) as Victim
    const isAlsoStruck = random() < 0.5
    const choice = random()
    if (readSession(environment.home, id)?.phase === 'ended') break
    const isHit =
      victim === 'stop'
        ? await stopAndResume(environment, id, isAlsoStruck)
        : killVictim(environment, id, { victim, choice, struck })
    if (!isHit) continue
    kills[victim]++
    fs.appendFileSync(path.join(environment.root, 'kills'), `${new Date().toISOString()} ${victim}\n`)
  }
  return kills
}

function killVictim(
  environment: LoopEnvironment,
  id: SessionId,
  { victim, choice, struck }: { victim: Victim; choice: number; struck: Map<string, number> },
): boolean {
  const pids = victim === 'worker' ? workerPids(environment, id, choice, struck) : pidsOf(environment, id, victim)
  for (const pid of pids) killNow(pid)
  return pids.length > 0
}

function pidsOf(environment: LoopEnvironment, id: SessionId, victim: Victim): number[] {
  if (victim === 'loop') return [readSession(environment.home, id)?.pid ?? null].filter(pid => pid !== null)
  const words = { supervisor: ['__daemon'], keeper: ['keeper.sh'], both: ['keeper.sh', '__daemon'] }
  const wanted = words[victim as keyof typeof words] ?? []
  return environment
    .processes()
    .filter(({ command }) => wanted.some(word => command.includes(word)))
    .map(({ pid }) => pid)
}

function workerPids(
  environment: LoopEnvironment,
  id: SessionId,
  choice: number,
  struck: Map<string, number>,
): number[] {
  const loop = readSession(environment.home, id)
  const alive = loop === undefined ? [] : readWorkers(environment.home, loop).filter(({ pid }) => pid !== null)
  const worker = pick(alive, choice)
  if (worker === undefined || worker.pid === null || (struck.get(worker.id) ?? 0) >= MOST_KILLS_OF_ONE) return []
  struck.set(worker.id, (struck.get(worker.id) ?? 0) + 1)
  return [worker.pid]
}

/** Stops the loop and resumes it as a user. The supervisor may die in between, and the user retries. */
async function stopAndResume(environment: LoopEnvironment, id: SessionId, isStruck: boolean): Promise<boolean> {
  const stopped = await environment.oneshot('stop', id)
  if (stopped.code !== 0) return false
  for (let look = 0; look < 600 && readSession(environment.home, id)?.phase !== 'ended'; look++) await pause(100)
  if (readSession(environment.home, id)?.outcome !== 'stopped') return false
  const resumed = environment.oneshot('resume', id)
  if (isStruck) {
    for (let look = 0; look < 200 && readSession(environment.home, id)?.phase === 'ended'; look++) await pause(5)
    for (const pid of pidsOf(environment, id, 'supervisor')) killNow(pid)
  }
  await resumed
  for (let again = 0; again < 5 && readSession(environment.home, id)?.outcome === 'stopped'; again++)
    await environment.oneshot('resume', id)
  return true
}

async function untilEnded(environment: LoopEnvironment, id: SessionId): Promise<SessionView> {
  const end = Date.now() + PATIENCE
  for (;;) {
    const view = readSession(environment.home, id)
    if (view === undefined) throw new Error(`the session ${id} is gone`)
    if (view.phase === 'ended' || Date.now() > end) return view
    if (!isAnybodyLeft(environment)) await environment.oneshot('daemon', 'start')
    await pause(250)
  }
}

/**
 * If supervisor, keeper, loop and workers are all dead at once, only the user's next command or a reboot restarts one.
 */
function isAnybodyLeft(environment: LoopEnvironment): boolean {
  return environment.processes().some(({ command }) => !command.includes('tmux'))
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended meanwhile.
  }
}
