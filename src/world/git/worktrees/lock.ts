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
/** Milliseconds that a git of somebody who was killed may go on: it may be about to check out a large repository. */
const ORPHAN_TIMEOUT = 120_000

/** Of all workshops in this process: it can hold each lock once only. */
const mutex = new KeyedMutex()

/** Whoever has the turn: what it starts carries this word, by which the next one knows it. */
export interface LockHolder {
  readonly env: Readonly<Record<string, string>>
  /** Whether the one before was killed in the midst of it. */
  readonly previousHolderDied: boolean
}

/**
 * Does work while nobody else does any that is guarded by the same folder, in whichever process. A holder that is killed lets
 * go of it at once; the git that it has started may go on, and is waited for.
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
      // What was called off is killed, and may not be gone yet: then the next one waits for it.
      if (!signal.aborted) fs.rmSync(holder, { force: true })
    }
  })
}

/** The same, for work whose processes do no harm when they go on without us. */
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
