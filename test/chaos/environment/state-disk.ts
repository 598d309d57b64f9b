import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../../src/lib/errors.ts'

/** Enough for the sessions alive at one time; small enough to fill in a moment. */
const SIZE = '192m'

/** The disk under the state folder: a small disk of its own if the system permits it, so that a test can fill it. */
export class StateDisk {
  readonly isSmall: boolean
  readonly #folder: string
  readonly #ballast: string

  private constructor(folder: string, isSmall: boolean) {
    this.#folder = folder
    this.#ballast = path.join(folder, 'ballast')
    this.isSmall = isSmall
  }

  static at(folder: string): StateDisk {
    fs.mkdirSync(folder, { mode: 0o700 })
    const options = ['-t', 'tmpfs', '-o', `size=${SIZE},mode=700`, 'tmpfs', folder]
    const isSmall = process.getuid?.() === 0 && spawnSync('mount', options).status === 0
    return new StateDisk(folder, isSmall)
  }

  /** Writes until the disk is full. */
  fill(): void {
    const ballast = fs.openSync(this.#ballast, 'a')
    try {
      for (let size = 4 << 20; size >= 4096; ) {
        try {
          fs.writeSync(ballast, Buffer.alloc(size))
        } catch (cause) {
          if (!hasCode(cause, 'ENOSPC')) throw cause
          size >>= 2
        }
      }
    } finally {
      fs.closeSync(ballast)
    }
  }

  free(): void {
    fs.rmSync(this.#ballast, { force: true })
  }

  remove(): void {
    if (this.isSmall) spawnSync('umount', ['-l', this.#folder])
  }
}
