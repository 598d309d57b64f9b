import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { KeyedMutex } from '../../../lib/keyed-mutex.ts'
import { readTail, replaceIn } from '../../../os/files/file-io.ts'
import { KernelLock } from '../../../os/kernel-lock.ts'
import { type FolderHandle, createFolderWithoutLinks } from '../../../os/files/folder-handle.ts'
import { processTable, signalProcess } from '../../../os/process/processes.ts'

const POLL_INTERVAL = 25
/** Milliseconds that a killed holder's git may continue: it may be checking out a large repository. */
const ORPHAN_TIMEOUT = 120_000

/** All instances in this process share it, because a process can acquire each lock only once. */
const mutex = new KeyedMutex()

/** The current holder of the lock. Its child processes carry this marker, so that the next holder can find them. */
export interface LockHolder {
  readonly env: Readonly<Record<string, string>>
  /** True if the previous holder was killed while it held the lock. */
  readonly previousHolderDied: boolean
}

/**
 * Runs work while no other process runs work under the same folder's lock. The kernel releases the lock of a killed
 * holder at once; the git processes that it started may continue, and the next holder waits for them.
 */
export function withRepositoryLock<T>(
  folder: string,
  signal: AbortSignal,
  work: (turn: LockHolder) => Promise<T>,
): Promise<T> {
  return withFolderLock(folder, signal, async held => {
    const holder = held.at('holder')
    const before = readTail(holder, 100)
    if (before !== '') await waitForProcesses(before, signal)
    const word = `workshop-${crypto.randomBytes(8).toString('hex')}`
    replaceIn(held, 'holder', word)
    try {
      return await work({ env: { ONESHOT_ATTEMPT: word }, previousHolderDied: before !== '' })
    } finally {
      // An abort kills the child processes, which may still run: the next holder then waits for them.
      if (!signal.aborted) fs.rmSync(holder, { force: true })
    }
  })
}

/** Does the same for work whose child processes do no harm without us. */
export function withFolderLock<T>(
  folder: string,
  signal: AbortSignal,
  work: (held: FolderHandle) => Promise<T>,
): Promise<T> {
  return mutex.run(folder, async () => {
    const held = createFolderWithoutLinks(folder)
    try {
      const lock = await acquireLock(path.join(folder, 'lock'), signal)
      try {
        return await work(held)
      } finally {
        lock.release()
      }
    } finally {
      held.close()
    }
  })
}

async function acquireLock(file: string, signal: AbortSignal): Promise<KernelLock> {
  for (;;) {
    const lock = KernelLock.tryAcquire(file)
    if (lock !== undefined) return lock
    await pause(POLL_INTERVAL * (1 + Math.random()), undefined, { signal })
  }
}

async function waitForProcesses(word: string, signal: AbortSignal): Promise<void> {
  for (let waited = 0; ; waited += POLL_INTERVAL) {
    const left = (await processTable()).filter(({ marker }) => marker === word)
    if (left.length === 0) return
    if (waited > ORPHAN_TIMEOUT) for (const process of left) signalProcess(process, 'SIGKILL')
    await pause(POLL_INTERVAL, undefined, { signal })
  }
}
