import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { refusal } from '../api/contract/problems.ts'
import { count, object, string, tryParseJson } from '../lib/codec.ts'
import type { Duration } from '../lib/time.ts'
import type { Home } from '../state/home.ts'
import { readPid, writePid } from '../state/pid-file.ts'
import { isSuspended } from '../os/process/processes.ts'
import { SupervisorLock } from '../world/store/supervisor-lock.ts'
import { progressFile } from '../state/supervisor-pid.ts'
import { HolderWatch } from './detect-stuck-lock-holder.ts'

/**
 * Acquires the supervisor lock, or refuses with a message that names the holder. The kernel releases the lock of a dead
 * holder, so its successor acquires it at once. A live holder without progress loses its rights through the epoch. Only
 * one newcomer waits for that and the others exit, so that a slow supervisor is replaced once and not by each of them.
 */
export async function acquireLock(home: Home, patience: Duration): Promise<SupervisorLock> {
  let turn: SupervisorLock | undefined
  try {
    const holder = new HolderWatch(home, patience)
    for (;;) {
      const lock = SupervisorLock.tryAcquire(home.lock) ?? (turn && replace(holder, home))
      if (lock !== undefined) {
        // Writes before the release of the turn: the next newcomer must not judge us by our predecessor.
        writePid(progressFile(home), process.pid)
        return lock
      }
      await refuseIfAnswered(home)
      turn ??= takeTurn(home, holder)
      if (holder.isBusy())
        throw refusal('daemon-running', `a supervisor is already running: ${describePid(holder.pid)}; it is busy`)
      await pause(100)
    }
  } finally {
    turn?.release()
  }
}

/**
 * Seizes the lock of a stuck holder. Checks the holder again inside the seizure, because another supervisor may have
 * taken over since the first check.
 */
function replace(holder: HolderWatch, home: Home): SupervisorLock | undefined {
  return holder.isStuck() ? SupervisorLock.seize(home.lock, () => holder.isStuck()) : undefined
}

/** Acquires the right to wait for the lock. Refuses when another process has it, unless that process is suspended. */
function takeTurn(home: Home, holder: HolderWatch): SupervisorLock {
  const file = `${home.lock}.next`
  const record = `${file}.pid`
  const isStuck = (): boolean => isSuspended(readPid(record) ?? 0)
  const turn = SupervisorLock.tryAcquire(file) ?? (isStuck() ? SupervisorLock.seize(file, isStuck) : undefined)
  if (turn === undefined) {
    throw refusal(
      'daemon-running',
      `another supervisor (${describePid(readPid(record))}) already waits for the one that does not answer (${describePid(holder.pid)})`,
    )
  }
  writePid(record, process.pid)
  return turn
}

function describePid(pid: number | undefined): string {
  return `pid ${pid ?? 'unknown'}`
}

async function refuseIfAnswered(home: Home): Promise<void> {
  const holder = await queryHolder(home)
  if (holder === undefined) return
  throw refusal(
    'daemon-running',
    `a supervisor is already running: pid ${holder.pid}, epoch ${holder.epoch}, since ${holder.startedAt}`,
  )
}

/** The part of a supervisor's answer that the refusal names. */
const holderAnswer = object({ pid: count, epoch: count, startedAt: string })

type Holder = ReturnType<typeof holderAnswer>

function queryHolder(home: Home): Promise<Holder | undefined> {
  return new Promise(resolve => {
    const request = http.get({ socketPath: home.daemonSocket, path: '/v1/daemon', timeout: 1_000 }, response => {
      let text = ''
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve(tryParseJson(text, holderAnswer) ?? undefined))
      response.on('close', () => resolve(undefined)) // The holder died during its answer.
    })
    request.on('timeout', () => request.destroy(new Error('no answer')))
    request.on('error', () => resolve(undefined))
  })
}
