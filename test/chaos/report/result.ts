import { statsOf } from '../../../bench/measure/stats.ts'
import { describeMachine, type Machine } from '../../../bench/report/machine.ts'
import type { Findings } from '../checks/findings.ts'
import type { FaultScheduler, InjectedFault } from '../fault-scheduler.ts'
import { FAULTS } from '../faults/faults.ts'
import type { Recovery } from '../faults/measure-recovery.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { User } from '../fleet/user.ts'
import type { Options } from '../options.ts'
import type { ChaosEnvironment } from '../environment/chaos-environment.ts'
import type { ViewChecker } from '../watch/view-checker.ts'
import type { SupervisorHistory } from '../watch/supervisor-history.ts'

export interface FaultRow {
  readonly fault: string
  readonly count: number
  readonly until: string
  /** Milliseconds; null if this fault needs no recovery, or no recovery was measured. */
  readonly recovery: { readonly n: number; readonly median: number; readonly p99: number; readonly max: number } | null
}

export interface Result {
  readonly seed: number
  /** Requested number of kills, and of parallel sessions. */
  readonly wanted: number
  readonly sessions: number
  readonly version: string
  readonly machine: Machine
  readonly seconds: number
  readonly kills: number
  readonly missed: number
  readonly rows: readonly FaultRow[]
  readonly totals: Readonly<Record<string, number>>
  readonly skipped: readonly string[]
  readonly findings: Findings
  readonly evidence: string
}

interface Run {
  readonly options: Options
  readonly struck: readonly (Omit<InjectedFault, 'recovery'> & { readonly recovery: Recovery })[]
  readonly director: FaultScheduler
  readonly fleet: Fleet
  readonly user: User
  readonly supervisors: SupervisorHistory
  readonly sampler: ViewChecker
  readonly findings: Findings
  readonly witness: { readonly writes: number; readonly writers: number }
  readonly theatre: ChaosEnvironment
  readonly seconds: number
}

/** Computes the figures of a run. */
export function resultOf(run: Run): Result {
  const { options, director, findings, theatre: environment } = run
  return {
    seed: options.seed,
    wanted: options.kills,
    sessions: options.sessions,
    version: environment.version,
    machine: describeMachine(false),
    seconds: run.seconds,
    kills: director.kills,
    missed: director.missed,
    rows: rowsOf(run),
    totals: totalsOf(run),
    skipped: skippedIn(environment),
    findings,
    evidence: environment.root,
  }
}

function rowsOf(run: Run): FaultRow[] {
  return FAULTS.map(({ name, until }) => {
    const injections = run.struck.filter(injection => injection.fault === name)
    const times = injections
      .map(injection => injection.recovery ?? nextLife(run, injection))
      .filter(time => typeof time === 'number')
    const { n, median, p99 } = statsOf(times)
    const recovery = n === 0 ? null : { n, median, p99, max: Math.max(...times) }
    return { fault: name, count: injections.length, until, recovery }
  })
}

/**
 * Returns the milliseconds from a death to the first act of the next process; undefined if a user stopped the session
 * or it gave up.
 */
function nextLife(
  { fleet }: Run,
  { story: session, at, isDeath }: Pick<InjectedFault, 'story' | 'at' | 'isDeath'>,
): number | undefined {
  if (session === undefined || !isDeath || session.stops > 0 || session.giveUps > 0) return undefined
  const begun = fleet.figures.find(figures => figures.task === session.plan.task)?.begun ?? []
  const next = begun.find(life => life.at > at)
  return next === undefined ? undefined : next.at - at
}

function totalsOf({ director, fleet, user, supervisors, sampler, findings, witness }: Run): Record<string, number> {
  const sum = (of: (one: (typeof fleet.figures)[number]) => number): number =>
    fleet.figures.reduce((total, one) => total + of(one), 0)
  const stories = (of: (one: (typeof fleet.settled)[number]) => number): number =>
    fleet.settled.reduce((total, one) => total + of(one), 0)
  return {
    'sessions seen through': fleet.figures.length,
    'lives of agents': sum(one => one.begun.length),
    'bytes of output checked': sum(one => one.bytes),
    'numbered lines checked': sum(one => one.lines),
    'lines lost': findings.count('bytes', 'transcript'),
    'lines lost with a killed terminal (documented)': sum(one => one.lostWithTerminal),
    'lines repeated after a killed recorder (documented)': sum(one => one.repeatedByRecorder),
    'messages accepted and read': sum(one => one.messages),
    'messages lost, doubled or out of order': findings.count('messages'),
    'stops by the user': stories(one => one.stops),
    'resumes by the user': stories(one => one.resumes),
    'sessions that gave up, and were resumed': stories(one => one.giveUps),
    'supervisors started by a user’s command': user.starts,
    'blows that found nobody to strike': director.missed,
    'supervisors that answered': supervisors.heard.length,
    'supervisors that wrote into the database': witness.writers,
    'writes into the database': witness.writes,
    'moments with two acting supervisors': findings.count('one supervisor'),
    'moments with two living attempts': findings.count('one attempt'),
    orphans: findings.count('orphans'),
    'looks at what list shows': sampler.looks,
    'times a dead agent was shown at work': findings.count('shown'),
    'logs with control characters': findings.count('terminal'),
    'times done was said without evidence': findings.count('evidence'),
    'words not kept': findings.count('kept', 'stuck', 'bug'),
    'changes to the user’s repository or tmux': findings.count('untouched'),
  }
}

function skippedIn({ disk, clock }: ChaosEnvironment): string[] {
  const reasons = []
  if (!disk.isSmall)
    reasons.push('disk full: disks cannot be mounted here; it takes root, and a container that allows it')
  if (clock.obstacle !== null) reasons.push(`clock set, and the witness of the supervisors’ writes: ${clock.obstacle}`)
  return reasons
}
