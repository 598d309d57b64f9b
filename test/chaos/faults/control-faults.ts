import { setTimeout as pause } from 'node:timers/promises'
import { isSuspended, lives, type ProcessId, signalProcess } from '../../../src/world/os/processes.ts'
import { steadyNow } from '../agent/journal.ts'
import { between } from '../dice.ts'
import type { Blow, Fault, Scene } from './fault.ts'
import { recovered } from './recovered.ts'

export const killSupervisor: Fault = async scene => {
  const holder = scene.supervisors.holder()
  if (holder === undefined || !signalProcess(holder, 'SIGKILL')) return undefined
  return withAnswer(scene, holder, steadyNow(), 1)
}

export const killKeeper: Fault = async scene => {
  const keeper = scene.supervisors.keeper()
  if (keeper === undefined || !signalProcess(keeper, 'SIGKILL')) return undefined
  const recovery = recovered(() => {
    const now = scene.supervisors.keeper()
    return now !== undefined && now.pid !== keeper.pid
  })
  return { at: steadyNow(), kills: 1, recovery }
}

/** Both at once: the next shim whose agent ends, or the next command, brings them back. */
export const killSupervisorAndKeeper: Fault = async scene => {
  const holder = scene.supervisors.holder()
  const keeper = scene.supervisors.keeper()
  if (holder === undefined || keeper === undefined) return undefined
  const kills = Number(signalProcess(keeper, 'SIGKILL')) + Number(signalProcess(holder, 'SIGKILL'))
  return kills === 0 ? undefined : withAnswer(scene, holder, steadyNow(), kills)
}

/** Kills it, and its successor as soon as that has taken charge, in the middle of its start. */
export const killTwice: Fault = async scene => {
  const holder = scene.supervisors.holder()
  if (holder === undefined || !signalProcess(holder, 'SIGKILL')) return undefined
  const successor = await successorOf(holder, scene)
  const isStruck = successor !== undefined && signalProcess(successor, 'SIGKILL')
  return withAnswer(scene, successor ?? holder, steadyNow(), isStruck ? 2 : 1)
}

async function successorOf(holder: ProcessId, scene: Scene): Promise<ProcessId | undefined> {
  for (let look = 0; look < 200; look++) {
    const now = scene.supervisors.holder()
    if (now !== undefined && now.pid !== holder.pid) return now
    await pause(3)
  }
  return undefined
}

/** SIGSTOP for a while; meanwhile somebody starts another; then it wakes up. */
export const suspend: Fault = async (scene, roll) => {
  const holder = scene.supervisors.holder()
  if (holder === undefined || isSuspended(holder.pid) || !signalProcess(holder, 'SIGSTOP')) return undefined
  const blow = withAnswer(scene, holder, steadyNow(), 0)
  const isReplaced = roll() < 0.7
  const started = isReplaced ? scene.user.startDaemon() : Promise.resolve()
  const sleep = pause(between(roll, 200, 4_000))
  const woken = Promise.all([sleep, started]).then(() => wake(scene, holder))
  return { ...blow, recovery: woken.then(() => blow.recovery) }
}

/** Whoever was superseded while it slept leaves. */
async function wake(scene: Scene, holder: ProcessId): Promise<void> {
  signalProcess(holder, 'SIGCONT')
  const settled = await recovered(
    () => lives(holder) === 'dead' || scene.supervisors.heard.at(-1)?.pid === holder.pid,
    20_000,
  )
  if (settled === 'never')
    scene.findings.add('one supervisor', `pid ${holder.pid} woke up after another took over, and did not leave`)
}

function withAnswer(scene: Scene, victim: ProcessId, at: number, kills: number): Blow {
  const answered = (): boolean => scene.supervisors.recoveredAfter(victim.pid, at) !== undefined
  const recovery = recovered(answered).then(() => scene.supervisors.recoveredAfter(victim.pid, at) ?? 'never')
  return { at, kills, recovery }
}
