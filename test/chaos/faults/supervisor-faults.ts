import { setTimeout as pause } from 'node:timers/promises'
import { isSuspended, checkLiveness, type ProcessId, signalProcess } from '../../../src/os/process/processes.ts'
import { steadyNow } from '../agent/journal.ts'
import { between } from '../../../testkit/system/seeded-random.ts'
import type { FaultEffect, Fault, FaultContext } from './fault.ts'
import { measureRecovery } from './measure-recovery.ts'

export const killSupervisor: Fault = async context => {
  const holder = context.supervisors.holder()
  if (holder === undefined || !signalProcess(holder, 'SIGKILL')) return undefined
  return withAnswer(context, holder, steadyNow(), 1)
}

export const killKeeper: Fault = async context => {
  const keeper = context.supervisors.keeper()
  if (keeper === undefined || !signalProcess(keeper, 'SIGKILL')) return undefined
  const recovery = measureRecovery(() => {
    const now = context.supervisors.keeper()
    return now !== undefined && now.pid !== keeper.pid
  })
  return { at: steadyNow(), kills: 1, recovery }
}

/** Kills both at once: the next shim whose agent ends, or the next command, restarts them. */
export const killSupervisorAndKeeper: Fault = async context => {
  const holder = context.supervisors.holder()
  const keeper = context.supervisors.keeper()
  if (holder === undefined || keeper === undefined) return undefined
  const kills = Number(signalProcess(keeper, 'SIGKILL')) + Number(signalProcess(holder, 'SIGKILL'))
  return kills === 0 ? undefined : withAnswer(context, holder, steadyNow(), kills)
}

/** Kills the supervisor, and the next one as soon as it has taken charge, during its start. */
export const killTwice: Fault = async context => {
  const holder = context.supervisors.holder()
  if (holder === undefined || !signalProcess(holder, 'SIGKILL')) return undefined
  const successor = await successorOf(holder, context)
  const isStruck = successor !== undefined && signalProcess(successor, 'SIGKILL')
  return withAnswer(context, successor ?? holder, steadyNow(), isStruck ? 2 : 1)
}

async function successorOf(holder: ProcessId, context: FaultContext): Promise<ProcessId | undefined> {
  for (let look = 0; look < 200; look++) {
    const now = context.supervisors.holder()
    if (now !== undefined && now.pid !== holder.pid) return now
    await pause(3)
  }
  return undefined
}

/** Suspends the supervisor with SIGSTOP; meanwhile another one starts; then the first wakes. */
export const suspend: Fault = async (context, random) => {
  const holder = context.supervisors.holder()
  if (holder === undefined || isSuspended(holder.pid) || !signalProcess(holder, 'SIGSTOP')) return undefined
  const effect = withAnswer(context, holder, steadyNow(), 0)
  const isReplaced = random() < 0.7
  const started = isReplaced ? context.user.startDaemon() : Promise.resolve()
  const sleep = pause(between(random, 200, 4_000))
  const woken = Promise.all([sleep, started]).then(() => wake(context, holder))
  return { ...effect, recovery: woken.then(() => effect.recovery) }
}

/** Wakes the supervisor; if another one has superseded it, it must exit. */
async function wake(context: FaultContext, holder: ProcessId): Promise<void> {
  signalProcess(holder, 'SIGCONT')
  const settled = await measureRecovery(
    () => checkLiveness(holder) === 'dead' || context.supervisors.heard.at(-1)?.pid === holder.pid,
    20_000,
  )
  if (settled === 'never')
    context.findings.add('one supervisor', `pid ${holder.pid} woke up after another took over, and did not leave`)
}

function withAnswer(context: FaultContext, victim: ProcessId, at: number, kills: number): FaultEffect {
  const answered = (): boolean => context.supervisors.recoveredAfter(victim.pid, at) !== undefined
  const recovery = measureRecovery(answered).then(() => context.supervisors.recoveredAfter(victim.pid, at) ?? 'never')
  return { at, kills, recovery }
}
