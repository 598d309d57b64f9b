import fs from 'node:fs'
import path from 'node:path'
import { run } from '../../src/os/run.ts'
import { hasCode } from '../../src/lib/errors.ts'
import { type TestHome, waitUntil } from './test-home.ts'

/** A disk of a few megabytes for a house's state folder. */
export class SmallDisk {
  readonly #folder: string
  readonly #ballast: string

  private constructor(folder: string) {
    this.#folder = folder
    this.#ballast = path.join(folder, 'ballast')
  }

  /** Undefined where disks cannot be made: only root may, and not in every container. */
  static async under(testHome: TestHome, megabytes = 2, files?: number): Promise<SmallDisk | undefined> {
    const folder = testHome.home.root
    fs.mkdirSync(folder, { mode: 0o700 })
    const made = await mount(
      '-t',
      'tmpfs',
      '-o',
      `size=${megabytes}m,mode=700${files === undefined ? '' : `,nr_inodes=${files}`}`,
      'tmpfs',
      folder,
    )
    if (!made) return undefined
    testHome.defer(() => waitUntil('the disk is taken away', async () => ((await unmount(folder)) ? true : undefined)))
    return new SmallDisk(folder)
  }

  /** Writes until nothing more fits. */
  fill(): void {
    const ballast = fs.openSync(this.#ballast, 'a')
    try {
      for (;;) fs.writeSync(ballast, Buffer.alloc(4096))
    } catch (cause) {
      if (!hasCode(cause, 'ENOSPC')) throw cause
    } finally {
      fs.closeSync(ballast)
    }
  }

  /** Bytes that still fit. */
  get room(): number {
    const { bavail, bsize } = fs.statfsSync(this.#folder)
    return bavail * bsize
  }

  /** Files that can still be made. */
  get freeFiles(): number {
    return fs.statfsSync(this.#folder).ffree
  }

  free(): void {
    fs.rmSync(this.#ballast)
  }

  /** Whoever has a file open for writing keeps it from becoming read-only. */
  async makeReadOnly(): Promise<void> {
    await waitUntil('the disk is read-only', async () =>
      (await mount('-o', 'remount,ro', this.#folder)) ? true : undefined,
    )
  }

  async makeWritable(): Promise<void> {
    await mount('-o', 'remount,rw', this.#folder)
  }
}

async function mount(...args: string[]): Promise<boolean> {
  return process.getuid?.() === 0 && (await run('mount', args)).code === 0
}

async function unmount(folder: string): Promise<boolean> {
  return (await run('umount', [folder])).code === 0
}
