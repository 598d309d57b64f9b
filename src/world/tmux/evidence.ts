import fs from 'node:fs'
import type { Exit, Mode } from '../../core/session.ts'
import type { Evidence } from '../../ports/work.ts'
import type { AttemptFolder } from '../os/folders.ts'
import type { OomWatch } from '../os/oom-watch.ts'
import { bootId, lives } from '../os/processes.ts'
import { readExit, readShim, readStarted } from '../os/spool.ts'
import { isAlone } from './end-attempt.ts'

/** What an attempt's files and the machine tell about it, at this moment. */
export function evidenceIn(folder: AttemptFolder, mode: Mode, oom: OomWatch): Evidence {
  const record = readExit(folder)
  const exit = record?.kind === 'ended' ? record.exit : null
  const claim = readShim(folder)
  const life = readStarted(folder)
  const isEarlierBoot = life !== null && life.boot !== bootId
  return {
    isClaimed: claim !== null,
    openedAt: claim === null ? (fs.statSync(folder.launch, { throwIfNoEntry: false })?.mtimeMs ?? null) : null,
    refusal: record?.kind === 'refused' ? record.reason : null,
    life,
    exit,
    memory: exit === null ? null : wantOfMemory(exit, oom),
    process: life === null ? 'unknown' : isEarlierBoot ? 'dead' : lives(life),
    shim: claim === null ? 'unknown' : isEarlierBoot ? 'dead' : lives(claim),
    isAlone: mode === 'headless' && exit !== null && claim !== null && isAlone(claim),
  }
}

/** The kernel ends what there is no memory for with the signal that anybody else would use. */
function wantOfMemory(exit: Exit, oom: OomWatch): string | null {
  if (exit.kind !== 'signal' || exit.signal !== 'SIGKILL') return null
  return oom.hasStruck() ? 'the kernel has just ended a process for want of it' : null
}
