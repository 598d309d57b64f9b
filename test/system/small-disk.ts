import fs from 'node:fs'
import path from 'node:path'
import { run } from '../../src/os/run.ts'
import { hasCode } from '../../src/lib/errors.ts'
import { type TestHome, waitUntil } from './test-home.ts'

/** A disk of a few megabytes for the state folder of a test home. */
export class SmallDisk {
  readonly #folder: string
  readonly #ballast: string

  private constructor(folder: string) {
    this.#folder = folder
    this.#ballast = path.join(folder, 'ballast')
  }

  /** Returns undefined if the system permits no new disks: only root can create them, and not in every container. */
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

  /** Writes until the disk is full. */
  fill(): void {
    this.fillExcept(0)
  }

  /** Writes until the disk has only so many bytes. */
  fillExcept(bytes: number): void {
    const ballast = fs.openSync(this.#ballast, 'a')
    try {
      for (;;) {
        if (bytes > 0 && this.room <= bytes) break
        fs.writeSync(ballast, Buffer.alloc(4096))
      }
    } catch (cause) {
      if (!hasCode(cause, 'ENOSPC')) throw cause
    } finally {
      fs.closeSync(ballast)
    }
  }

  /** Free bytes. */
  get room(): number {
    const { bavail, bsize } = fs.statfsSync(this.#folder)
    return bavail * bsize
  }

  /** Free inodes. */
  get freeFiles(): number {
    return fs.statfsSync(this.#folder).ffree
  }

  free(): void {
    fs.rmSync(this.#ballast)
  }

  /** Remounts the disk read-only. A process that has a file open for writing prevents this. */
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
