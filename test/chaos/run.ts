import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { checkDatabaseWriters } from './checks/check-database-writers.ts'
import { Findings } from './checks/findings.ts'
import { seededRandom } from '../../testkit/system/seeded-random.ts'
import { FaultScheduler } from './fault-scheduler.ts'
import { Fleet } from './fleet/fleet.ts'
import { User } from './fleet/user.ts'
import { EventWaiter } from './event-waiter.ts'
import type { Options } from './options.ts'
import { resultOf, type Result } from './report/result.ts'
import { ChaosEnvironment } from './environment/chaos-environment.ts'
import { UserFiles } from './environment/user-files.ts'
import { ViewChecker } from './watch/view-checker.ts'
import { SupervisorHistory } from './watch/supervisor-history.ts'
import { Viewers } from './faults/viewers.ts'

/** Runs a fleet under faults, then without faults, and checks everything. */
export async function runChaos(options: Options): Promise<Result> {
  const { seed, say } = options
  const findings = new Findings(say)
  const environment = new ChaosEnvironment(options.repository, options.agent)
  const things = new UserFiles(environment)
  const user = new User(environment, seededRandom(seed, 'user'))
  const moments = new EventWaiter()
  const supervisors = new SupervisorHistory(environment.home, findings)
  const sampler = new ViewChecker(environment.home, findings)
  const fleet = new Fleet({ environment, user, findings, onMoment: name => moments.emit(name) }, seed)
  const viewers = new Viewers(environment, fleet, seededRandom(seed, 'viewers'))
  const director = new FaultScheduler(
    { environment, fleet, user, supervisors, viewers, findings, moments },
    moments,
    options,
  )
  const begun = performance.now()
  process.once('SIGINT', () => {
    environment.close({ keep: false })
    process.exit(130)
  })
  try {
    await user.startDaemon()
    moments.watch(environment.home.mailbox)
    supervisors.start()
    sampler.start()
    fleet.start(options.sessions)
    await director.injectFaults(options.kills, begun + options.minutes * 60_000, progress(say))
    say(`${director.kills} kills in ${((performance.now() - begun) / 1_000).toFixed(1)} s; now it may rest`)
    environment.disk.free()
    environment.clock.shift(0)
    await fleet.close()
    const struck = await Promise.all(director.injected.map(async blow => ({ ...blow, recovery: await blow.recovery })))
    for (const { fault, at, recovery } of struck)
      if (recovery === 'never') findings.add('stuck', `${fault} at ${at}: not as it should be after a minute`)
    await viewers.close()
    await sampler.close()
    await supervisors.close()
    moments.close()
    for (const change of things.changes()) findings.add('untouched', change)
    things.close()
    await leave(environment, user, findings)
    const witness = checkDatabaseWriters(environment.witness, findings)
    const seconds = (performance.now() - begun) / 1_000
    return resultOf({
      options,
      struck,
      director,
      fleet,
      user,
      supervisors,
      sampler,
      findings,
      witness,
      theatre: environment,
      seconds,
    })
  } finally {
    environment.close({ keep: options.keep || findings.all.length > 0 })
  }
}

/** Stops everything in order and checks that no process is left. */
async function leave(environment: ChaosEnvironment, user: User, findings: Findings): Promise<void> {
  await user.oneshot('killall', '--yes')
  await user.oneshot('daemon', 'stop')
  for (let look = 0; look < 150 && environment.processes().length > 0; look++) await pause(100)
  for (const { pid, command } of environment.processes()) findings.add('orphans', `at the very end: ${pid} ${command}`)
  const entries = fs.existsSync(environment.home.mailbox) ? fs.readdirSync(environment.home.mailbox) : []
  if (entries.length > 0) findings.add('kept', `letters that nobody took: ${entries.join(', ')}`)
}

function progress(say: Options['say']): (kills: number) => void {
  let reported = 0
  return kills => {
    if (kills - reported < 500) return
    reported = kills
    say(`${new Date().toISOString().slice(11, 19)} ${kills} kills`)
  }
}
