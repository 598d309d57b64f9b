import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

/** The wall clock of one run's supervisors, which can be set without touching the machine's clock. */
export class ShiftedClock {
  /** Why the clock cannot be set here; null if it can. */
  readonly obstacle: string | null
  readonly #file: string
  readonly #library: string

  constructor(root: string, repository: string) {
    this.#file = path.join(root, 'clock')
    this.#library = path.join(root, 'preload.so')
    this.shift(0)
    this.obstacle = compile(path.join(repository, 'test/chaos/environment/preload.c'), this.#library)
  }

  /** Returns the environment variables that a supervisor needs for it. */
  preload(witness: string): NodeJS.ProcessEnv {
    if (this.obstacle !== null) return {}
    return { LD_PRELOAD: this.#library, CHAOS_CLOCK: this.#file, CHAOS_WITNESS: witness }
  }

  /** Shifts the clock by this many milliseconds from now on. */
  shift(milliseconds: number): void {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(Math.round(milliseconds)))
    // The file must change in place, because supervisors have mapped it.
    const fd = fs.openSync(this.#file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600)
    fs.writeSync(fd, bytes, 0, 8, 0)
    fs.closeSync(fd)
  }
}

function compile(source: string, library: string): string | null {
  if (process.platform !== 'linux') return 'clocks are shifted only on Linux'
  const { status, error } = spawnSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl'])
  return status === 0 ? null : `no C compiler (${error?.message ?? `cc ended with ${status}`})`
}
