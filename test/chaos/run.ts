import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { checkWitness } from './checks/check-witness.ts'
import { Findings } from './checks/findings.ts'
import { dice } from './dice.ts'
import { Director } from './director.ts'
import { Fleet } from './fleet/fleet.ts'
import { User } from './fleet/user.ts'
import { Moments } from './moments.ts'
import type { Options } from './options.ts'
import { resultOf, type Result } from './report/result.ts'
import { Theatre } from './stage/theatre.ts'
import { UsersThings } from './stage/users-things.ts'
import { Sampler } from './watch/sampler.ts'
import { Supervisors } from './watch/supervisors.ts'
import { Viewers } from './faults/viewers.ts'

/** One run: a fleet at work, blow after blow, then quiet, and everything is checked. */
export async function runChaos(options: Options): Promise<Result> {
  const { seed, say } = options
  const findings = new Findings(say)
  const theatre = new Theatre(options.repository, options.agent)
  const things = new UsersThings(theatre)
  const user = new User(theatre, dice(seed, 'user'))
  const moments = new Moments()
  const supervisors = new Supervisors(theatre.home, findings)
  const sampler = new Sampler(theatre.home, findings)
  const fleet = new Fleet({ theatre, user, findings, onMoment: name => moments.tell(name) }, seed)
  const viewers = new Viewers(theatre, fleet, dice(seed, 'viewers'))
  const director = new Director({ theatre, fleet, user, supervisors, viewers, findings, moments }, moments, options)
  const begun = performance.now()
  process.once('SIGINT', () => {
    theatre.close({ keep: false })
    process.exit(130)
  })
  try {
    await user.startDaemon()
    moments.watch(theatre.home.mailbox)
    supervisors.start()
    sampler.start()
    fleet.start(options.sessions)
    await director.strike(options.kills, begun + options.minutes * 60_000, progress(say))
    say(`${director.kills} kills in ${((performance.now() - begun) / 1_000).toFixed(1)} s; now it may rest`)
    theatre.disk.free()
    theatre.clock.shift(0)
    await fleet.close()
    const struck = await Promise.all(director.struck.map(async blow => ({ ...blow, recovery: await blow.recovery })))
    for (const { fault, at, recovery } of struck)
      if (recovery === 'never') findings.add('stuck', `${fault} at ${at}: not as it should be after a minute`)
    await viewers.close()
    await sampler.close()
    await supervisors.close()
    moments.close()
    for (const change of things.changes()) findings.add('untouched', change)
    things.close()
    await leave(theatre, user, findings)
    const witness = checkWitness(theatre.witness, findings)
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
      theatre,
      seconds,
    })
  } finally {
    theatre.close({ keep: options.keep || findings.all.length > 0 })
  }
}

/** After a polite end nothing must be left. */
async function leave(theatre: Theatre, user: User, findings: Findings): Promise<void> {
  await user.oneshot('killall', '--yes')
  await user.oneshot('daemon', 'stop')
  for (let look = 0; look < 150 && theatre.processes().length > 0; look++) await pause(100)
  for (const { pid, command } of theatre.processes()) findings.add('orphans', `at the very end: ${pid} ${command}`)
  const letters = fs.existsSync(theatre.home.mailbox) ? fs.readdirSync(theatre.home.mailbox) : []
  if (letters.length > 0) findings.add('kept', `letters that nobody took: ${letters.join(', ')}`)
}

function progress(say: Options['say']): (kills: number) => void {
  let told = 0
  return kills => {
    if (kills - told < 500) return
    told = kills
    say(`${new Date().toISOString().slice(11, 19)} ${kills} kills`)
  }
}
