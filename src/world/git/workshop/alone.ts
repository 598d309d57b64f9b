import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Turnstile } from '../../../lib/turnstile.ts'
import { readEnd, replaceIn } from '../../os/files.ts'
import { KernelLock } from '../../os/kernel-lock.ts'
import { type Folder, makeStraight } from '../../os/open-folder.ts'
import { processTable, signalProcess } from '../../os/processes.ts'

const LOOK_AGAIN = 25
/** Milliseconds that a git of somebody who was killed may go on: it may be about to check out a large repository. */
const LAST_WORDS = 120_000

/** Of all workshops in this process: it can hold each lock once only. */
const turnstile = new Turnstile()

/** Whoever has the turn: what it starts carries this word, by which the next one knows it. */
export interface Turn {
  readonly env: Readonly<Record<string, string>>
  /** Whether the one before was killed in the midst of it. */
  readonly isHeir: boolean
}

/**
 * Does work while nobody else does any that is guarded by the same folder, in whichever process. A holder that is killed lets
 * go of it at once; the git that it has started may go on, and is waited for.
 */
export function alone<T>(folder: string, signal: AbortSignal, work: (turn: Turn) => Promise<T>): Promise<T> {
  return locked(folder, signal, async held => {
    const holder = held.at('holder')
    const before = readEnd(holder, 100)
    if (before !== '') await gone(before, signal)
    const word = `workshop-${crypto.randomBytes(8).toString('hex')}`
    replaceIn(held, 'holder', word)
    try {
      return await work({ env: { ONESHOT_ATTEMPT: word }, isHeir: before !== '' })
    } finally {
      // What was called off is killed, and may not be gone yet: then the next one waits for it.
      if (!signal.aborted) fs.rmSync(holder, { force: true })
    }
  })
}

/** The same, for work whose processes do no harm when they go on without us. */
export function locked<T>(folder: string, signal: AbortSignal, work: (held: Folder) => Promise<T>): Promise<T> {
  return turnstile.pass(folder, async () => {
    const held = makeStraight(folder)
    try {
      const lock = await take(path.join(folder, 'lock'), signal)
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

async function take(file: string, signal: AbortSignal): Promise<KernelLock> {
  for (;;) {
    const lock = KernelLock.tryTake(file)
    if (lock !== undefined) return lock
    await pause(LOOK_AGAIN * (1 + Math.random()), undefined, { signal })
  }
}

async function gone(word: string, signal: AbortSignal): Promise<void> {
  for (let waited = 0; ; waited += LOOK_AGAIN) {
    const left = (await processTable()).filter(({ marker }) => marker === word)
    if (left.length === 0) return
    if (waited > LAST_WORDS) for (const process of left) signalProcess(process, 'SIGKILL')
    await pause(LOOK_AGAIN, undefined, { signal })
  }
}
